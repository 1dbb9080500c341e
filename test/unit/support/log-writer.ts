import type {
  DurableEvent,
  DurablePayload,
  DurableType,
  ToolCall,
} from "../../../src/runtime/protocol/durable-events.ts";
import type { Principal } from "../../../src/runtime/protocol/principal.ts";
import { NO_USAGE, addUsage } from "../../../src/runtime/protocol/usage.ts";
import { planCall, settleCall } from "./call-plan.ts";
import type { CallBody } from "./call-plan.ts";
import type { BlockScript, PauseScript, SessionScript, StepScript, TurnScript } from "./session-script.ts";

export const SOMEBODY: Principal = { kind: "user", id: "somebody" };
const USAGE = { input: 100, output: 20, cachedInput: 50, reasoning: 5 };

/** Writes the log that a session script stands for, the way the product would. */
export function writeLog(script: SessionScript): DurableEvent[] {
  const writer = new LogWriter(script.asides);
  for (const item of script.items) {
    if (item.kind === "turn") writer.turn(item);
    else writer.pause(item);
  }
  return writer.events;
}

class LogWriter {
  readonly events: DurableEvent[] = [];
  readonly #asides: readonly number[];
  #slips = 0;
  #turn = 0;
  #step = 0;
  #prompts = 0;
  #promptIds: string[] = [];
  #usage = NO_USAGE;
  /** Where summaries may end, and what restores may go back to. */
  readonly #cuts: number[] = [];
  readonly #stops: number[] = [0];

  constructor(asides: readonly number[]) {
    this.#asides = asides;
  }

  pause(script: PauseScript): void {
    if (script.kind === "drop") return this.#drop();
    if (script.kind === "summary") return this.#summary(script.through, "manual");
    const toSeq = pick(this.#stops, script.to) ?? 0;
    const { conversation } = script;
    this.#write("checkpoint_restore", {
      toSeq,
      conversation,
      files: !conversation,
      skipped: [],
      by: SOMEBODY,
    });
    this.#cuts.push(this.events.length);
  }

  turn(script: TurnScript): void {
    this.#turn += 1;
    this.#step = 0;
    this.#usage = NO_USAGE;
    const promptId = this.#newPrompt();
    this.#promptIds = [promptId];
    this.#write("input", {
      promptId,
      content: [{ type: "text", text: "do it" }],
      source: script.source,
      by: SOMEBODY,
    });
    this.#boundary();
    script.steps.forEach((step, index) => {
      const last = index === script.steps.length - 1;
      const answers = last && script.ending === "stop";
      const follows = index > 0 && script.steps[index - 1]?.calls.length === 0;
      this.#openStep(follows && step.before.length === 0 ? ["follow_up"] : step.before);
      this.#reply(step, answers);
      if (!answers) this.#calls(step, last && script.ending === "interrupt" ? script.cutAfter : Infinity);
    });
    if (script.ending === "stop" && script.steps.length === 0) {
      this.#openStep([]);
      this.#reply({ before: [], blocks: [], calls: [], order: [0], attempt: 1, cutByLength: false }, true);
    }
    this.#end(script);
  }

  #end(script: TurnScript): void {
    const { ending, cutReply } = script;
    if (ending === "interrupt" && !this.#interrupted()) {
      this.#write("interrupt", { by: SOMEBODY, reason: "enough", clearQueue: false });
      this.#cutReply(cutReply, "interrupted");
    }
    if (ending === "error") {
      this.#cutReply(cutReply, "error");
      this.#write("error", { code: "model_unavailable", message: "It failed.", fatal: true });
    }
    const reasons = {
      stop: "stop",
      interrupt: "aborted",
      error: "error",
      max_steps: "max_steps",
      budget: "budget",
    } as const;
    const causes = {
      stop: "model",
      interrupt: "user",
      error: "model",
      max_steps: "policy",
      budget: "policy",
    } as const;
    const stop = {
      reason: reasons[ending],
      cause: causes[ending],
      promptIds: this.#promptIds,
      usage: this.#usage,
    };
    this.#write("agent_stop", stop);
    this.#stops.push(this.events.length);
    this.#cuts.push(this.events.length);
  }

  #interrupted(): boolean {
    return this.events.some((event) => event.type === "interrupt" && event.turn === this.#turn);
  }

  #openStep(before: StepScript["before"]): void {
    this.#step += 1;
    for (const kind of before) {
      if (kind === "summary") this.#summary(this.#step * 7, "auto");
      else if (kind === "background") {
        const taskId = `task_${this.events.length}`;
        this.#write("background_completed", { taskId, label: "tests", status: "completed", content: "<ok>" });
      } else this.#steer(kind);
    }
  }

  #steer(mode: "steer" | "follow_up"): void {
    const promptId = this.#newPrompt();
    this.#promptIds = [...this.#promptIds, promptId];
    this.#write("steer", { promptId, content: [{ type: "text", text: "also this" }], by: SOMEBODY, mode });
  }

  #reply(script: StepScript, answers: boolean): void {
    const { attempt } = script;
    const silent = script.blocks.length === 0 && (answers || script.calls.length === 0);
    this.#blocks(silent ? [{ kind: "output", text: "done", signed: false }] : script.blocks, attempt, false);
    const calls = answers
      ? []
      : script.calls.map((call, index): ToolCall => this.#call(index, call.malformed));
    if (calls.length > 0) this.#write("tool_calls", { calls });
    const finishReason = script.cutByLength ? "length" : calls.length > 0 ? "tool_calls" : "stop";
    this.#trace(finishReason, attempt);
    if (calls.length === 0) this.#boundary();
  }

  #call(index: number, malformed: boolean): ToolCall {
    const call = {
      id: `call_${this.#turn}_${this.#step}_${index}`,
      name: "read_file",
      args: { path: `f${index}` },
    };
    return malformed ? { ...call, args: {}, malformed: '{"path' } : { ...call, intent: "look" };
  }

  #blocks(blocks: readonly BlockScript[], attempt: number, interrupted: boolean): void {
    blocks.forEach(({ kind, text, signed }, index) => {
      const signature = signed ? { providerData: { signature: `s${index}` } } : {};
      const cut = interrupted ? { interrupted } : {};
      this.#write(kind, { attempt, block: index * 2, text, ...cut, ...signature });
    });
  }

  #trace(finishReason: DurablePayload<"agent_trace">["finishReason"], attempt: number): void {
    const at = this.events.length;
    this.#usage = addUsage(this.#usage, USAGE);
    this.#write("agent_trace", {
      model: "scripted/one",
      attempt,
      usage: USAGE,
      finishReason,
      startedAt: at,
      endedAt: at + 1,
    });
  }

  /** What had been shown of a reply stays; without that the cut call leaves nothing in the log. */
  #cutReply(blocks: readonly BlockScript[], finishReason: "interrupted" | "error"): void {
    if (blocks.length === 0) return;
    this.#step += 1;
    this.#blocks(blocks, 1, true);
    this.#trace(finishReason, 1);
  }

  #calls(script: StepScript, interruptAfter: number): void {
    const plans = script.calls.map((call, index) =>
      planCall(call, index, this.#callIds(script)[index] ?? "", script.cutByLength),
    );
    const written = plans.map((): CallBody[] => []);
    for (let count = 0; ; count += 1) {
      const open = plans.flatMap((plan, index) => (plan.length > 0 ? [index] : []));
      if (open.length === 0) break;
      if (count === interruptAfter) return this.#stopCalls(written, plans);
      const next = pick(open, pick(script.order, count) ?? 0) ?? 0;
      const body = plans[next]?.shift();
      if (body) this.#writeBody(body);
      if (body) written[next]?.push(body);
      if (plans.some((plan) => plan.length > 0)) this.#slipIn();
    }
    if (script.calls.length > 0) this.#boundary();
  }

  #callIds(script: StepScript): string[] {
    return script.calls.map((_, index) => `call_${this.#turn}_${this.#step}_${index}`);
  }

  #stopCalls(written: readonly CallBody[][], plans: readonly CallBody[][]): void {
    this.#write("interrupt", { by: SOMEBODY, clearQueue: true });
    plans.forEach((rest, index) => {
      for (const body of settleCall(written[index] ?? [], rest)) this.#writeBody(body);
    });
  }

  #writeBody({ type, ...payload }: CallBody): void {
    this.#write(type, payload as DurablePayload<DurableType>);
  }

  #summary(through: number, kind: "auto" | "manual"): void {
    const throughSeq = pick(this.#cuts, through);
    if (throughSeq === undefined) return;
    this.#write("agent_summary", { text: "so far", fromSeq: 1, throughSeq, before: 900, after: 90, kind });
    this.#cuts.push(this.events.length);
  }

  /** Between two commits with nothing open: a summary may end here, and something may slip in. */
  #boundary(): void {
    this.#cuts.push(this.events.length);
    this.#slipIn();
  }

  #slipIn(): void {
    const aside = pick(this.#asides, this.#slips);
    this.#slips += 1;
    if (aside === 1) this.#drop();
    if (aside !== 2) return;
    const forwarded = { seq: this.events.length + 1, at: 1, turn: 1, step: 9, agentId: "helper" };
    this.events.push({ ...forwarded, type: "output", attempt: 1, block: 0, text: "from a helper" });
  }

  #drop(): void {
    this.#write("prompt_dropped", { promptId: this.#newPrompt(), by: SOMEBODY, reason: "withdrawn" });
  }

  #newPrompt(): string {
    this.#prompts += 1;
    return `prompt_${this.#prompts}`;
  }

  #write<T extends DurableType>(type: T, payload: DurablePayload<T>): void {
    const seq = this.events.length + 1;
    this.events.push({
      seq,
      at: 1_000 + seq,
      turn: this.#turn,
      step: this.#step,
      type,
      ...payload,
    } as DurableEvent);
  }
}

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % from.length];
}
