import type { CompactionPlan, CompactionReason } from "../context/compaction.ts";
import type { ContextManagement } from "../context/context-builder.ts";
import type { ModelPace } from "../model/model-call.ts";
import type { ModelProvider } from "../model/model-provider.ts";
import type { Limits } from "../protocol/limits.ts";
import type { ModelMessage } from "../protocol/model-messages.ts";
import type { ModelPrices } from "../protocol/model-price.ts";
import type { Clock, MaybePromise, Random, Timers } from "../protocol/time.ts";
import type { ToolContext, ToolResult } from "../tool/tool.ts";
import type { ToolRegistry } from "../tool/tool-registry.ts";
import type { PermissionGate } from "./call-gate.ts";
import type { KeptResult } from "./call-runner.ts";
import type { TurnBudget } from "./turn-budget.ts";
import type { AgentHooks, Middleware } from "./hooks.ts";

/** When the conversation becomes smaller, and how. */
export interface Compaction {
  /** Tokens of the model's input beyond which it does. */
  readonly at: number;
  /** What a summary can stand for now; null when nothing. */
  plan(reason: CompactionReason): MaybePromise<CompactionPlan | null>;
}

/** Everything that a turn needs besides its log; none of it is state of the turn. */
export interface TurnSettings {
  /** The model of the next call. May throw: then the turn fails with what it threw. */
  readonly provider: () => ModelProvider;
  /** The model's input now, static parts first. */
  readonly context: () => MaybePromise<{
    readonly system: string;
    readonly messages: readonly ModelMessage[];
    readonly management?: ContextManagement | null;
  }>;
  /** How the conversation is kept within the model's window; null where nothing does. */
  readonly compaction: Compaction | null;
  readonly tools: ToolRegistry<ToolContext>;
  readonly hooks: AgentHooks;
  readonly middleware: readonly Middleware[];
  readonly limits: Limits;
  readonly prices: ModelPrices;
  readonly maxSteps: number;
  readonly budget: () => TurnBudget;
  /** Wakes of the session that found this turn without an owner; attempts of a wake never repeat earlier ones. */
  readonly wakes: number;
  /** Those of them that nothing explains but a crash: too many end the turn. */
  readonly stalls: number;
  /** The permissions of the agent's tools; null where every call may run. Never rejects. */
  readonly gate: () => Promise<PermissionGate | null>;
  /** What a person has allowed for the whole session; see `rememberedAs`. */
  readonly remembered: () => ReadonlySet<string>;
  readonly digest: (args: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly redact: (args: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** Resolves when tools may begin. Never rejects. */
  readonly beforeTools: () => Promise<void>;
  /** Puts what is too long for the log elsewhere. Never rejects. */
  readonly keepResult: (result: ToolResult, callId: string) => Promise<KeptResult>;
  /** Holds model calls back where too many begin. */
  readonly pace?: ModelPace | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
}
