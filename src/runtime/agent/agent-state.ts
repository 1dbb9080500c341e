import type { Usage } from "../protocol/usage.ts";

/** What an agent is doing. */
export interface AgentState {
  readonly isRunning: boolean;
  /** Prompts that wait; the running one is not counted. */
  readonly queuedPrompts: number;
  readonly currentWindowTokens: number;
  /** Tokens of the model's window. */
  readonly contextWindow: number;
  /** Whether the context is compacted when it grows. */
  readonly contextStrategyEnabled: boolean;
  readonly status: "idle" | "running" | "waiting";
  readonly turn: number;
  readonly step: number;
  readonly head: number;
  readonly usage: Usage;
}
