import type * as z from "zod";
import type { PromptSection } from "../context/context-builder.ts";
import type { SkillSet } from "../context/skills/skill-set.ts";
import type { KeptResult } from "../loop/call-runner.ts";
import type { AgentHooks, Middleware } from "../loop/hooks.ts";
import type { TurnBudget } from "../loop/turn-budget.ts";
import type { ModelPace } from "../model/model-call.ts";
import type { ModelProvider } from "../model/model-provider.ts";
import type { Limits } from "../protocol/limits.ts";
import type { ModelPrices } from "../protocol/model-price.ts";
import type { PolicyDefinition } from "../protocol/policy-definition.ts";
import type { RecalledMemory } from "../protocol/recalled-memory.ts";
import type { Clock, MaybePromise, Random, Timers } from "../protocol/time.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { Tool, ToolResult } from "../tool/tool.ts";
import type { WorkspaceSource } from "../workspace/workspace-source.ts";
import type { AgentToolContext } from "./agent-tool-context.ts";
import type { ReadArtifact } from "./past-conversation.ts";

/** What an agent's definition says; it may change from one turn to the next. */
export type AgentDefinitionOptions = Pick<
  AgentOptions,
  "tools" | "context" | "maxSteps" | "policy" | "prices"
>;

/** Options of an agent; everything but the model has a default. */
export interface AgentOptions {
  /** The model, or a function from the id that a prompt asks for (undefined: the agent's own) to one. */
  readonly model: ModelProvider | ((id: string | undefined) => ModelProvider);
  readonly tools?: readonly Tool<z.ZodObject, AgentToolContext>[];
  readonly context?: {
    readonly prompts?: readonly PromptSection[];
    /** The agent's skills, which the system prompt lists; always the same ones. Must not reject. */
    readonly skills?: () => MaybePromise<SkillSet>;
    /** Tokens of the model's context window. @default the limit `windowTokens` */
    readonly windowTokens?: number;
    /** Whether an earlier part of the conversation is summarised before it grows beyond. @default true */
    readonly strategyEnabled?: boolean;
  };
  /** @default an empty workspace in memory */
  readonly workspace?: Pick<WorkspaceSource, "open">;
  /** @default a session in memory */
  readonly session?: AgentSession;
  readonly hooks?: AgentHooks;
  readonly middleware?: readonly Middleware[];
  /** @default the limit `stepsPerTurn` */
  readonly maxSteps?: number;
  /** What the open turn may use; a function is asked whenever that is decided. */
  readonly budget?: TurnBudget | (() => TurnBudget);
  /** What the agent's tools may do, and when a person is asked. @default everything */
  readonly policy?: PolicyDefinition;
  readonly limits?: Partial<Limits>;
  /** What models cost, by their ids. Calls of others cost nothing that is known. @default none */
  readonly prices?: ModelPrices;
  /** Holds model calls back where too many begin. @default none is */
  readonly pace?: ModelPace;
  /** Called before a prompt that waited opens its turn. A rejection does not keep the turn from opening. */
  readonly beforeTurn?: (prompt: WaitingPrompt) => Promise<void>;
  /**
   * What the agent remembers of who prompts, for a prompt that opens a turn; `submit` is given it instead. A rejection
   * does not keep the turn from opening.
   */
  readonly recall?: (prompt: Pick<WaitingPrompt, "content" | "by">) => Promise<readonly RecalledMemory[]>;
  /**
   * Sees to it that `resume` is called at that time (ms since the epoch), for a turn whose model may not be asked before.
   * @default a timer
   */
  readonly park?: (retryAt: number) => MaybePromise<void>;
  /** No tool begins before this resolves; it must not reject. */
  readonly beforeTools?: () => Promise<void>;
  /** Puts results that are too long for the log elsewhere; must not reject. @default they stay as they are */
  readonly keepResult?: (result: ToolResult, callId: string) => Promise<KeptResult>;
  /** Reads a part of what `keepResult` has put elsewhere. @default only what the log has of it is recalled */
  readonly readArtifact?: ReadArtifact;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: Random;
  readonly newId?: () => string;
}
