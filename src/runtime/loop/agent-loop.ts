import type { ModelProvider } from "../model/model-provider.ts";
import type { Budget } from "../protocol/agent-definition.ts";
import type { Content } from "../protocol/content.ts";
import { textContent } from "../protocol/content.ts";
import type { DurableBody, DurableEvent } from "../protocol/durable-events.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { withLimits } from "../protocol/limits.ts";
import type { Limits } from "../protocol/limits.ts";
import type { LiveEvent } from "../protocol/live-events.ts";
import { toModelMessages } from "../protocol/model-messages.ts";
import { applyEvent, foldSession } from "../protocol/session-fold.ts";
import type { SessionFold } from "../protocol/session-fold.ts";
import { systemTimers } from "../protocol/time.ts";
import type { Clock, Random, Timers } from "../protocol/time.ts";
import type { ToolContext } from "../tool/tool.ts";
import type { ToolRegistry } from "../tool/tool-registry.ts";
import { EventChannel } from "./event-channel.ts";
import type { AgentHooks, Middleware } from "./hooks.ts";
import { TurnRun } from "./run-turn.ts";
import type { TurnLog } from "./turn-log.ts";

/** Options of {@link agentLoop}. */
export interface AgentLoopOptions {
  readonly model: ModelProvider;
  readonly tools: ToolRegistry<ToolContext>;
  /** The system prompt. */
  readonly system?: string;
  /** The conversation so far; the turn's events continue its `seq` and turn numbers. */
  readonly log?: readonly DurableEvent[];
  /** Stops the turn, as an interrupt does. */
  readonly signal?: AbortSignal;
  readonly hooks?: AgentHooks;
  readonly middleware?: readonly Middleware[];
  readonly maxSteps?: number;
  readonly budget?: Budget;
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: Random;
}

/**
 * One turn without an Agent: no session, no queue, nothing kept. Yields every event, durable and live, up to
 * `agent_stop`; the durable ones, appended to `log`, are the next turn's conversation. Leaving early stops the turn.
 */
export async function* agentLoop(
  options: AgentLoopOptions,
  input: string | Content,
): AsyncGenerator<AgentEvent, void> {
  const clock = options.clock ?? Date.now;
  const channel = new EventChannel<AgentEvent>();
  const log = new ChannelLog(options.log ?? [], channel, clock);
  // Nobody would take a parked turn up again, so a long Retry-After fails it.
  const limits = { ...withLimits(options.limits), retryAfterParkedMs: 0 };
  const stop = new AbortController();
  const settings = {
    provider: () => options.model,
    context: () => ({ system: options.system ?? "", messages: toModelMessages(log.events) }),
    compaction: null,
    prices: {},
    tools: options.tools,
    hooks: options.hooks ?? {},
    middleware: options.middleware ?? [],
    limits,
    maxSteps: options.maxSteps ?? limits.stepsPerTurn,
    budget: () => options.budget ?? {},
    wakes: 0,
    stalls: 0,
    // Approvals and questions need somebody who answers later; a loop of its own has nobody.
    gate: async () => null,
    remembered: () => new Set<string>(),
    digest: async () => "",
    redact: (args: Readonly<Record<string, unknown>>) => ({ ...args }),
    beforeTools: async () => undefined,
    keepResult: async <Result>(result: Result) => result,
    clock,
    timers: options.timers ?? systemTimers,
    random: options.random ?? Math.random,
  };
  const interrupt = (): void => {
    if (log.fold.open && !log.fold.open.interrupt) log.interrupt();
    stop.abort(new DOMException("The turn was stopped.", "AbortError"));
  };
  log.open(typeof input === "string" ? textContent(input) : input);
  if (options.signal?.aborted) interrupt();
  options.signal?.addEventListener("abort", interrupt, { once: true });
  const running = new TurnRun(log, settings, stop.signal).run();
  const closed = running.finally(() => channel.close());
  try {
    yield* channel.values();
    await closed;
  } finally {
    options.signal?.removeEventListener("abort", interrupt);
    interrupt();
    await closed.catch(() => undefined);
  }
}

/** A log that lives as long as its loop and tells everything to one channel. */
class ChannelLog implements TurnLog {
  readonly events: DurableEvent[];
  readonly waiting = [];
  fold: SessionFold;
  readonly #channel: EventChannel<AgentEvent>;
  readonly #clock: Clock;

  constructor(before: readonly DurableEvent[], channel: EventChannel<AgentEvent>, clock: Clock) {
    this.events = [...before];
    this.fold = foldSession(before);
    this.#channel = channel;
    this.#clock = clock;
  }

  open(content: Content): void {
    const promptId = `prompt_${this.fold.turn + 1}`;
    const by = { kind: "user", id: "local" } as const;
    this.commit([
      { type: "input", turn: this.fold.turn + 1, step: 0, promptId, content, source: "user", by },
    ]);
  }

  interrupt(): void {
    const { turn, step } = this.fold;
    this.commit([{ type: "interrupt", turn, step, by: { kind: "user", id: "local" }, clearQueue: false }]);
  }

  commit(bodies: readonly DurableBody[], { live = [] }: { live?: readonly LiveEvent[] } = {}): void {
    for (const body of bodies) {
      // What belongs to the commit is told before the turn's end.
      if (body.type === "agent_stop") for (const event of live) this.#channel.push(event);
      const event = { seq: this.fold.head + 1, at: this.#clock(), ...body } as DurableEvent;
      this.events.push(event);
      this.fold = applyEvent(this.fold, event);
      this.#channel.push(event);
    }
    if (bodies.at(-1)?.type !== "agent_stop") for (const event of live) this.#channel.push(event);
  }

  emit(event: LiveEvent): void {
    this.#channel.push(event);
  }
}
