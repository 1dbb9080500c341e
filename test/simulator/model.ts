import { ModelError } from "../../src/runtime/model/model-error.ts";
import type {
  FinishReason,
  ModelDelta,
  ModelProvider,
  ModelReply,
  ModelRequest,
  ModelStream,
  ReplyCall,
} from "../../src/runtime/model/model-provider.ts";
import { sleep } from "../../src/runtime/model/sleep.ts";
import { systemTimers } from "../../src/runtime/protocol/time.ts";
import { TOOL_FACTS } from "./tools.ts";
import type { World } from "./world.ts";

type Ending = "reply" | "cut" | "hang" | "hang deaf" | { readonly error: unknown };

interface Plan {
  readonly deltas: readonly ModelDelta[];
  readonly ending: Ending;
  readonly reply: ModelReply;
}

const TOOLS = [...TOOL_FACTS.keys(), "ask_user"];
const WORDS = ["one ", "two ", "three ", "four ", "🎲 "];

/**
 * A model whose every answer is thrown by the dice. Each block of text begins with a marker of its own, so that the
 * text itself tells of which call it is; each tool call bears a token that no other call has.
 */
export class SimulatedModel {
  readonly #world: World;
  /** A provider said not to come back before, in ms since the epoch. */
  askedToWaitUntil = 0;
  #calls = 0;
  #tokens = 0;

  constructor(world: World) {
    this.#world = world;
  }

  provider(id: string): ModelProvider {
    return { id, stream: (request, signal) => this.#stream(id, request, signal) };
  }

  async *#stream(id: string, request: ModelRequest, signal: AbortSignal): ModelStream {
    // A call that was stopped before it began never leaves.
    signal.throwIfAborted();
    const { oracle, tally } = this.#world;
    this.#calls += 1;
    oracle.modelCalled(id, request);
    const plan = this.#plan(request);
    const { ending } = plan;
    tally.count(`model: ${typeof ending === "string" ? ending : "error"}`);
    const pace = this.#world.dice.chance(0.5) ? 0 : this.#world.dice.between(1, 300);
    for (const delta of plan.deltas) {
      await this.#wait(pace, signal);
      yield delta;
    }
    await this.#wait(pace, signal);
    if (typeof ending === "object") {
      const { error } = ending;
      const wait = error instanceof ModelError ? (error.retryAfterMs ?? 0) : 0;
      this.askedToWaitUntil = Math.max(this.askedToWaitUntil, this.#world.scheduler.now + wait);
      throw error;
    }
    if (ending === "cut") return;
    if (ending === "hang deaf") await new Promise<never>(() => undefined);
    if (ending === "hang") await sleep(10 ** 9, signal, systemTimers);
    signal.throwIfAborted();
    yield { type: "reply", reply: plan.reply };
  }

  async #wait(pace: number, signal: AbortSignal): Promise<void> {
    const { dice } = this.#world;
    if (pace > 0 || dice.chance(0.1)) await sleep(dice.between(0, pace), signal, systemTimers);
    signal.throwIfAborted();
  }

  #plan({ messages }: ModelRequest): Plan {
    const { dice, calm } = this.#world;
    const last = messages.at(-1);
    const deltas: ModelDelta[] = [];
    const blocks: { kind: "text" | "thought"; block: number; text: string }[] = [];
    const addBlock = (kind: "text" | "thought"): void => {
      const block = blocks.length;
      const pieces = [`<${this.#calls}.${block}> `];
      for (let left = dice.between(0, 4); left > 0; left -= 1) pieces.push(dice.pick(WORDS));
      for (const text of pieces) deltas.push({ type: "delta", kind, block, text });
      blocks.push({ kind, block, text: pieces.join("") });
      this.#world.oracle.text.planned(`<${this.#calls}.${block}>`, pieces.join(""));
    };
    if (dice.chance(0.3)) addBlock("thought");
    const wantsTools = dice.chance(last?.role === "tool" ? 0.35 : 0.6);
    if (!wantsTools || dice.chance(0.4)) addBlock("text");
    const calls = wantsTools ? this.#callsOf(blocks.length, deltas) : [];
    const finishReason = this.#finishReason(calls.length > 0);
    const counted = { input: messages.length * 10, output: deltas.length, cachedInput: 0, reasoning: 0 };
    const usage = dice.chance(0.9) ? counted : null;
    const ending = calm || dice.chance(0.8) ? "reply" : this.#badEnding();
    return { deltas, ending, reply: { blocks, calls, finishReason, usage } };
  }

  #callsOf(firstBlock: number, deltas: ModelDelta[]): ReplyCall[] {
    const { dice } = this.#world;
    const calls: ReplyCall[] = [];
    const count = dice.weighted({ one: 3, two: 3, three: 3, four: 2 });
    const many = { one: 1, two: 2, three: 3, four: 4 }[count];
    for (let index = 0; index < many; index += 1) {
      const call = this.#call(index);
      const text = call.malformed ?? JSON.stringify(call.args);
      const half = dice.between(0, text.length);
      for (const piece of [text.slice(0, half), text.slice(half)]) {
        const place = { block: firstBlock + index, call: index, name: call.name };
        if (piece !== "") deltas.push({ type: "delta", kind: "tool_args", text: piece, ...place });
      }
      calls.push(call);
    }
    return calls;
  }

  #call(index: number): ReplyCall {
    const { dice, tally } = this.#world;
    this.#tokens += 1;
    const token = this.#tokens;
    const providerId = `call_${index}`;
    const kind = dice.weighted({ known: 40, unknown: 1, malformed: 1, wrong: 1 });
    if (kind !== "known") tally.count(`call: ${kind}`);
    if (kind === "unknown") return { providerId, name: "no_such_tool", args: { token } };
    if (kind === "malformed") return { providerId, name: "note", args: {}, malformed: `{"token": ${token}` };
    if (kind === "wrong") return { providerId, name: "note", args: { token: "not a number" } };
    const name = dice.chance(0.03) ? "deadly" : dice.pick(TOOLS.filter((tool) => tool !== "deadly"));
    if (name === "ask_user") return { providerId, name, args: { question: `Question ${token}?` } };
    const intent = dice.chance(0.3) ? { _intent: "to see" } : {};
    return { providerId, name, args: { ...intent, token } };
  }

  #finishReason(calls: boolean): FinishReason {
    const { dice, calm } = this.#world;
    if (!calm && dice.chance(0.04)) return dice.pick(["length", "content_filter"]);
    return calls ? "tool_calls" : "stop";
  }

  #badEnding(): Ending {
    const { dice } = this.#world;
    return dice.pick<Ending>([
      "cut",
      "hang",
      "hang deaf",
      { error: new Error("socket hang up") },
      { error: new ModelError("model_transport", "broken") },
      { error: new ModelError("model_unavailable", "overloaded") },
      { error: new ModelError("model_rejected", "bad request") },
      { error: new ModelError("model_auth", "bad key") },
      { error: new ModelError("context_overflow", "too long") },
      { error: new ModelError("empty_reply", "nothing") },
      { error: new ModelError("rate_limited", "later", { retryAfterMs: dice.between(0, 5_000) }) },
      { error: new ModelError("rate_limited", "later", { retryAfterMs: dice.between(60_001, 600_000) }) },
      { error: new ModelError("rate_limited", "later", { retryAfterMs: dice.between(60_001, 600_000) }) },
      { error: new ModelError("rate_limited", "much later", { retryAfterMs: 2 * 60 * 60_000 }) },
    ]);
  }
}
