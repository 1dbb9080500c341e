import { TurnRun } from "../loop/run-turn.ts";
import { argumentsDigest } from "../guard/arguments-digest.ts";
import { redactArguments } from "../guard/redact-arguments.ts";
import type { PermissionGate } from "../loop/call-gate.ts";
import type { Compaction } from "../loop/turn-settings.ts";
import type { ModelProvider } from "../model/model-provider.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { InterruptReceipt, PromptBody, PromptReceipt } from "../protocol/frames.ts";
import { withLimits } from "../protocol/limits.ts";
import type { Limits } from "../protocol/limits.ts";
import { SYSTEM } from "../protocol/principal.ts";
import type { Principal } from "../protocol/principal.ts";
import { waitsForPerson } from "../protocol/session-fold.ts";
import type { SessionFold } from "../protocol/session-fold.ts";
import { systemTimers } from "../protocol/time.ts";
import type { Clock, MaybePromise, Timers } from "../protocol/time.ts";
import { inTurnOrder } from "../protocol/waiting-prompt.ts";
import type { WaitingPrompt } from "../protocol/waiting-prompt.ts";
import type { AgentSession } from "../session/agent-session.ts";
import { MemorySession } from "../session/memory-session.ts";
import type { ToolResult } from "../tool/tool.ts";
import { ToolRegistry } from "../tool/tool-registry.ts";
import type { ToolCallSite } from "../tool/tool-registry.ts";
import { MemoryWorkspaceSource } from "../workspace/memory-workspace.ts";
import type { WorkspaceSource } from "../workspace/workspace-source.ts";
import { acceptPrompt } from "./accept-prompt.ts";
import type { AcceptedPrompt } from "./accept-prompt.ts";
import type { AgentDefinitionOptions, AgentOptions } from "./agent-options.ts";
import type { AgentState } from "./agent-state.ts";
import { ContextWindow } from "./context-window.ts";
import { CompactionDesk } from "./compaction-desk.ts";
import type { Compacted } from "./compaction-desk.ts";
import { revocable } from "./agent-tool-context.ts";
import type { AgentToolContext } from "./agent-tool-context.ts";
import { EventChannel } from "../loop/event-channel.ts";
import { gateOf } from "./policy-gate.ts";
import { PastConversation } from "./past-conversation.ts";
import { PromptDesk } from "./prompt-desk.ts";
import { PromptTurn } from "./prompt-turn.ts";
import { RequestDesk } from "./request-desk.ts";
import type { ApprovalDecision, OpenRequest, QuestionAnswer } from "./request-desk.ts";
import { RestoreDesk } from "./restore-desk.ts";
import { SessionLog, inOrder } from "./session-log.ts";
import type { BatchListener } from "./session-log.ts";
import { turnContext } from "./turn-context.ts";
import { TurnDriver } from "./turn-driver.ts";
import { tellResults } from "./turn-result.ts";
import type { TurnResult } from "./turn-result.ts";

/**
 * An agent in a session: takes prompts, keeps their order, runs one turn at a time, and tells everything that
 * happens. All of its state is the session's log and queue; an agent made again on the same session goes on where
 * the log says.
 */
export class Agent {
  /** The tools; changes count from the next step on. */
  readonly tool: ToolRegistry<AgentToolContext>;
  /** Takes the session back to an earlier point of its log. */
  readonly history: RestoreDesk;
  readonly #limits: Limits;
  readonly #log: SessionLog;
  readonly #session: AgentSession;
  readonly #workspace: Pick<WorkspaceSource, "open">;
  readonly #driver: TurnDriver;
  readonly #desk: PromptDesk;
  readonly #requests: RequestDesk;
  #definition: AgentDefinitionOptions;
  #gate: () => Promise<PermissionGate | null>;
  readonly #newId: () => string;
  readonly #recall: NonNullable<AgentOptions["recall"]>;
  readonly #window: ContextWindow;
  readonly #past: PastConversation;
  readonly #compaction: Compaction | null;
  readonly #compactions: CompactionDesk;
  readonly #leaving = new AbortController();
  #loaded = false;
  #closed = false;

  constructor(options: AgentOptions) {
    const clock = options.clock ?? Date.now;
    this.#limits = withLimits(options.limits);
    this.#recall = options.recall ?? (async () => []);
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#session = options.session ?? new MemorySession(this.#newId());
    this.#workspace = options.workspace ?? new MemoryWorkspaceSource();
    this.#log = new SessionLog(this.#session, clock);
    tellResults(this.#log);
    this.history = new RestoreDesk(this.#log);
    this.#definition = options;
    const { model, pace, random = Math.random, timers = systemTimers } = options;
    const provider = (asked: string | undefined): ModelProvider =>
      typeof model === "function" ? model(asked) : model;
    this.#window = new ContextWindow({
      context: () => this.#definition.context ?? {},
      limits: this.#limits,
      log: this.#log,
      modelId: () => idOf(() => provider(this.#log.openModel)),
      hasTool: (name) => this.tool.get(name) !== undefined,
    });
    this.#past = new PastConversation(this.#log, this.#window, options.readArtifact);
    this.#compaction = (options.context?.strategyEnabled ?? true) ? this.#window : null;
    this.#compactions = new CompactionDesk(this.#log, this.#compaction, {
      prices: () => this.#definition.prices ?? {},
      summariser: () => ({
        provider: provider(undefined),
        signal: this.#leaving.signal,
        limits: this.#limits,
        pace,
        clock,
        timers,
        random,
      }),
    });
    this.tool = new ToolRegistry((call) => this.#toolContext(call));
    this.#gate = this.#define(options);
    this.#driver = new TurnDriver(this.#log, {
      makeRun: (stop, wakes, stalls) => this.#makeRun(options, stop, { wakes, stalls }),
      beforeTurn: options.beforeTurn ?? (async () => undefined),
      recall: (prompt) => this.#recall(prompt),
      park:
        options.park ?? ((retryAt) => this.#parkWithTimer(retryAt, clock, options.timers ?? systemTimers)),
      clock,
      requestMs: this.#limits.requestMs,
    });
    this.#requests = new RequestDesk(this.#log, this.#driver, this.tool, () => this.#gate(), clock);
    this.#desk = new PromptDesk(this.#log, this.#session, this.#driver, this.#limits, clock);
  }

  /**
   * Another definition, from the next turn on. Whether the conversation is summarised stays as it is.
   * @throws LightAgentError `busy` while a turn is open
   */
  redefine(definition: AgentDefinitionOptions): void {
    if (this.#log.fold.open) throw new LightAgentError("busy", "An agent is changed between turns.");
    this.#gate = this.#define(definition);
  }

  #define(definition: AgentDefinitionOptions): () => Promise<PermissionGate | null> {
    this.#definition = definition;
    for (const { name } of this.tool.getTools()) this.tool.remove(name);
    for (const tool of definition.tools ?? []) this.tool.register(tool);
    return gateOf(definition.policy);
  }

  /** The fold of the session's log. */
  get fold(): SessionFold {
    return this.#log.fold;
  }

  /** Prompts that wait, in the order in which they would open turns. */
  get waiting(): readonly WaitingPrompt[] {
    return inTurnOrder(this.#log.waiting);
  }

  /** Whether the log says that there is work and nobody in this process does it. */
  get isAbandoned(): boolean {
    return this.#driver.isAbandoned;
  }

  /** Why nothing runs any more: the log could not be written. `loadSession` begins anew. */
  get failure(): LightAgentError | null {
    return this.#driver.failure ?? this.#log.failure;
  }

  /** Takes the state from the session. Answers at once when the session does. */
  loadSession(): MaybePromise<void> {
    const loaded = this.#log.load();
    const done = (): void => {
      this.#loaded = true;
      this.#driver.reopen();
    };
    return loaded instanceof Promise ? loaded.then(done) : done();
  }

  /**
   * Goes on with what the log says is unfinished. `wakes` counts how often the session woke and found its open turn
   * without an owner and without progress: it numbers the attempts. `stalls` are those of them that only a crash
   * explains: too many end the turn.
   */
  resume(wakes = 0, stalls = wakes): void {
    this.#driver.resume(wakes, stalls);
  }

  /**
   * After `loadSession`, for a turn that earlier processes had woken: what it does from here on is later than what they
   * did, also when it goes on without `resume` because a person answers.
   */
  countFrom(wakes: number): void {
    this.#driver.countFrom(wakes);
  }

  /** Before `resume`: the open turn's model may not be asked before that time (ms since the epoch). */
  holdUntil(retryAt: number): void {
    this.#driver.holdUntil(retryAt);
  }

  #parkWithTimer(retryAt: number, clock: Clock, timers: Timers): void {
    timers.after(Math.max(0, retryAt - clock()), () => this.#driver.drive());
  }

  /**
   * Accepts a prompt: durable when this returns (or resolves), whatever happens then. Idle, its turn opens at once;
   * otherwise `mode` says how it enters. The session must be loaded.
   * @throws LightAgentError `idempotency_mismatch`, `busy`, `queue_full`, `log_write_failed`
   */
  submit(prompt: AcceptedPrompt): MaybePromise<PromptReceipt> {
    return this.#desk.submit(prompt);
  }

  /** Withdraws a waiting prompt. @throws LightAgentError `not_found` when it does not wait */
  withdraw(promptId: string, by: Principal = SYSTEM): MaybePromise<void> {
    return this.#desk.withdraw(promptId, by);
  }

  /**
   * Stops the running turn: written before anything is aborted. Idle, or with `turn` naming another turn, it does
   * nothing. What waits stays and runs next, unless `clearQueue`.
   */
  interrupt(
    options: string | { turn?: number; reason?: string; clearQueue?: boolean; by?: Principal } = {},
  ): MaybePromise<InterruptReceipt> {
    const given = typeof options === "string" ? { reason: options } : options;
    return this.#desk.interrupt({ by: SYSTEM, ...given });
  }

  /** The approvals and questions that are open. */
  async requests(): Promise<OpenRequest[]> {
    return this.#requests.open();
  }

  /**
   * Answers an approval. The first answer wins, the same again changes nothing.
   * @throws LightAgentError `not_found`, `already_decided`, or `invalid_request` for replaced arguments that do not fit
   */
  async decide(approvalId: string, decision: ApprovalDecision, by: Principal = SYSTEM): Promise<void> {
    return this.#requests.decide(approvalId, decision, by);
  }

  /** Answers a question. The first answer wins, the same again changes nothing. @throws as `decide` */
  async answer(inputId: string, answer: QuestionAnswer, by: Principal = SYSTEM): Promise<void> {
    return this.#requests.answer(inputId, answer, by);
  }

  /**
   * Summarises the conversation now.
   * @param begun whether something goes on that the log does not tell yet, a restore for example
   * @throws as CompactionDesk.compact
   */
  compact(instructions?: string, begun: () => boolean = () => false): Promise<Compacted> {
    return this.#compactions.compact(instructions, begun);
  }

  /** Prompts and waits until the prompt has its outcome; a failed turn is an outcome, not a rejection. */
  async prompt(text: string | PromptBody): Promise<void> {
    await this.send(text);
  }

  /** Prompts, waits, and answers with what the turn came to; null when the prompt was dropped. */
  async send(text: string | PromptBody): Promise<TurnResult | null> {
    let result: TurnResult | null = null;
    for await (const event of this.run(text)) if (event.type === "done") result = event;
    return result;
  }

  /**
   * Prompts and yields every event of the prompt's turn, durable and live, up to `done` (or to its
   * `prompt_dropped`). Leaving the iteration early stops the turn.
   * @throws LightAgentError when the prompt is not accepted or the log cannot be written
   */
  async *run(text: string | PromptBody): AsyncGenerator<AgentEvent, void> {
    if (this.#closed) throw new LightAgentError("unavailable", "The agent is closed.");
    if (!this.#loaded) await this.loadSession();
    const body = typeof text === "string" ? { text } : text;
    const accepted = await acceptPrompt(body, { kind: "user", id: "local" }, this.#newId, this.#limits);
    const prompt = { ...accepted, memories: await this.#recall(accepted).catch(() => []) };
    const channel = new EventChannel<AgentEvent>();
    const turn = new PromptTurn(prompt.promptId);
    const unsubscribe = this.on((event) => {
      if (turn.includes(event)) channel.push(event);
      if (turn.ended) channel.close();
    });
    try {
      await this.submit(prompt);
      void this.#driver.settled().then(() => channel.close());
      yield* channel.values();
      if (!turn.ended && this.failure) throw this.failure;
    } finally {
      unsubscribe();
      if (turn.number !== null && !turn.ended && !this.#closed && this.fold.open?.turn === turn.number) {
        if (this.getState().status === "running") void this.interrupt({ turn: turn.number });
      }
    }
  }

  /** Hears every event, durable and live, in order. What a listener throws is ignored. */
  on(listener: (event: AgentEvent) => void): () => void {
    return this.#log.subscribe((batch) => {
      for (const event of inOrder(batch)) listener(event);
    });
  }

  /** Hears what is told at once as one batch: a commit's events together. */
  subscribe(listener: BatchListener): () => void {
    return this.#log.subscribe(listener);
  }

  getState(): AgentState {
    const { open, turn, step, head, usage, windowTokens } = this.#log.fold;
    return {
      isRunning: open !== null,
      queuedPrompts: this.#log.waiting.length,
      currentWindowTokens: windowTokens,
      contextWindow: this.#window.tokens,
      contextStrategyEnabled: this.#compaction !== null,
      status: open === null ? "idle" : waitsForPerson(open) || this.#driver.isParked ? "waiting" : "running",
      turn,
      step,
      head,
      usage,
    };
  }

  /**
   * Begins a new conversation in the same log: nothing is erased, the model just no longer sees it.
   * @throws LightAgentError `busy` while a turn is open or prompts wait
   */
  async reset(by: Principal = SYSTEM): Promise<void> {
    if (!this.#loaded) await this.loadSession();
    await this.history.restore({ toSeq: 0, conversation: true, files: false, skipped: [], by });
  }

  /** Resolves when no turn runs and nothing waits that could run. */
  settled(): Promise<void> {
    return this.#driver.settled();
  }

  /** Lets go of the session: what runs is aborted and stays unfinished in the log. Safe to repeat. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#leaving.abort(new DOMException("The agent was closed.", "AbortError"));
    await this.#driver.close();
  }

  #makeRun(options: AgentOptions, stop: AbortSignal, counts: { wakes: number; stalls: number }): TurnRun {
    const { model } = options;
    const { context = {}, prices = {}, maxSteps = this.#limits.stepsPerTurn } = this.#definition;
    const settings = {
      provider: () => (typeof model === "function" ? model(this.#log.openModel) : model),
      context: turnContext(context, this.#limits, this.#log, this.#window),
      compaction: this.#compaction,
      tools: this.tool,
      hooks: options.hooks ?? {},
      middleware: options.middleware ?? [],
      limits: this.#limits,
      pace: options.pace,
      prices,
      maxSteps,
      budget: () => (typeof options.budget === "function" ? options.budget() : (options.budget ?? {})),
      ...counts,
      gate: this.#gate,
      remembered: () => this.#log.remembered,
      digest: argumentsDigest,
      redact: redactArguments,
      beforeTools: options.beforeTools ?? (async () => undefined),
      keepResult: options.keepResult ?? (async (result: ToolResult) => result),
      clock: options.clock ?? Date.now,
      timers: options.timers ?? systemTimers,
      random: options.random ?? Math.random,
    };
    return new TurnRun(this.#log, settings, stop);
  }

  #toolContext({ id, name, turn, step, signal }: ToolCallSite): AgentToolContext {
    const by = this.#log.fold.open?.by ?? SYSTEM;
    const source = { session: this.#session.id, turn, wakes: this.#driver.wakes, callId: id };
    return {
      signal,
      call: { id, name, turn, step },
      past: this.#past,
      workspace: revocable(this.#workspace.open({ writer: { by, source } }), signal),
      progress: (update) => {
        if (!signal.aborted) this.#log.emit({ type: "tool_progress", turn, step, callId: id, ...update });
      },
      emit: (event, data) => {
        if (!signal.aborted) this.#log.emit({ type: "custom", turn, step, name: event, data: data ?? null });
      },
    };
  }
}

/** A model that cannot be had has no id. */
function idOf(provider: () => ModelProvider): string | null {
  try {
    return provider().id;
  } catch {
    return null;
  }
}

/** Makes an agent. See {@link AgentOptions}. */
export function createAgent(options: AgentOptions): Agent {
  return new Agent(options);
}
