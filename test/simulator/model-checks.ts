import { textContent } from "../../src/runtime/protocol/content.ts";
import type { Content } from "../../src/runtime/protocol/content.ts";
import type { ModelMessage } from "../../src/runtime/protocol/model-messages.ts";
import type { ModelRequest } from "../../src/runtime/model/model-provider.ts";
import { lifeNow } from "./life.ts";
import { textsInForce } from "./restore-checks.ts";
import type { LogMirror } from "./log-mirror.ts";
import type { World } from "./world.ts";

/** What models are asked: valid histories, each one the one before with more at its end, and never for a stopped turn. */
export class ModelChecks {
  readonly #world: World;
  readonly #mirror: LogMirror;
  /** The last request, message by message. */
  #before: string[] = [];
  #fixed: string | null = null;
  /** How many restores and summaries there had been then. */
  #rewritten = 0;

  constructor(world: World, mirror: LogMirror) {
    this.#world = world;
    this.#mirror = mirror;
  }

  called(id: string, { system, messages, tools }: ModelRequest): void {
    // A replaced instance asks in vain: whatever it is answered, it can write nothing.
    if (lifeNow()?.state !== "current") return;
    const { openTurn, interrupts } = this.#mirror;
    this.#world.trace(`> model ${id}: ${messages.length} messages`);
    const summarises = system.startsWith("You summarise");
    const between = summarises && this.#world.requests.of("compact").length > 0;
    if (openTurn === null && !between) this.#violate("model", "a model is asked between turns");
    else if (interrupts.has(openTurn ?? 0))
      this.#violate("stop", `a model is asked in turn ${openTurn}, which was stopped`);
    for (const call of this.#mirror.calls.values()) {
      if (call.turn === openTurn && !call.result)
        this.#violate("model", `a model is asked before ${call.id} has a result`);
    }
    this.#checkHistory(messages);
    // Whoever summarises is told a story, and not the conversation.
    if (summarises) return;
    this.#checkModel(id);
    this.#checkPeople(messages);
    this.#checkPrefix(system, tools, messages);
  }

  /** Every step of a turn asks the model that its prompt named. */
  #checkModel(id: string): void {
    const input = this.#mirror.events.findLast(({ type }) => type === "input");
    if (input?.type !== "input") return;
    const named = this.#world.requests.of("prompt").find(({ target }) => target === input.promptId);
    const wanted = named?.body["model"] ?? this.#world.defaultModel;
    if (id !== wanted)
      this.#violate("model", `turn ${input.turn} asks ${id} and not ${JSON.stringify(wanted)}`);
  }

  #checkHistory(messages: readonly ModelMessage[]): void {
    let owed: { readonly id: string; readonly token: unknown }[] = [];
    for (const message of messages) {
      if (message.role === "tool") {
        const [next] = owed;
        owed = owed.slice(1);
        if (next?.id !== message.callId)
          this.#violate("history", `result of ${message.callId} in the place of ${next?.id}`);
        const said = /^done (\d+)/.exec(message.content)?.[1];
        const mine = said === undefined || typeof next?.token !== "number" || Number(said) === next.token;
        if (!mine)
          this.#violate("own-result", `the model is told the result of ${said} for ${message.callId}`);
        continue;
      }
      if (owed.length > 0) this.#violate("history", `${owed.length} calls without a result before a message`);
      owed = [];
      if (message.role === "assistant") {
        owed = message.calls.map(({ id, args }) => ({ id, token: args["token"] }));
        if (message.blocks.length + owed.length === 0)
          this.#violate("history", "an empty message of the model");
      }
    }
    if (owed.length > 0) this.#violate("history", `${owed.length} calls without a result at the end`);
    const last = messages.at(-1)?.role;
    if (last !== "user" && last !== "tool") this.#violate("history", `the last message is of ${last}`);
  }

  /**
   * A model sees what people said, all of it that is in force and nothing else. In a summary it stands word for word, but
   * for messages after the first that are left out and counted.
   */
  #checkPeople(messages: readonly ModelMessage[]): void {
    const contents = messages.flatMap((message) => (message.role === "user" ? [message.content] : []));
    const summary = saidInSummary(contents[0] ?? []);
    const { said: before, leftOut } = summary ?? { said: [], leftOut: 0 };
    const seen = [...before, ...contents.slice(summary ? 1 : 0)].map((content) => JSON.stringify(content));
    const [first, ...others] = textsInForce(this.#mirror.events);
    const said = first === undefined ? [] : [first, ...others.slice(leftOut)];
    if (seen.length !== said.length || seen.some((text, index) => text !== said[index]))
      this.#violate("history", `a model sees ${seen.join()} and not ${said.join()}, ${leftOut} left out`);
    if (leftOut > 0) this.#world.tally.count("summary: messages left out");
  }

  #checkPrefix(system: string, tools: unknown, messages: readonly ModelMessage[]): void {
    const fixed = JSON.stringify([system, tools]);
    this.#fixed ??= fixed;
    if (fixed !== this.#fixed) this.#violate("prefix", "the static part of the request has changed");
    const now = messages.map((message) => JSON.stringify(message));
    const rewrites = new Set(["checkpoint_restore", "agent_summary"]);
    const rewritten = this.#mirror.events.filter(({ type }) => rewrites.has(type)).length;
    if (rewritten !== this.#rewritten) this.#before = [];
    this.#rewritten = rewritten;
    const differs = this.#before.findIndex((message, index) => now[index] !== message);
    if (differs >= 0)
      this.#violate("prefix", `message ${differs} is not what it was: ${now[differs]?.slice(0, 200)}`);
    this.#before = now;
  }

  #violate(rule: string, message: string): void {
    this.#world.violate(rule, message);
  }
}

/** What people said before a summary, from the message that carries it; null for any other message. */
function saidInSummary([part]: readonly Content[number][]): { said: Content[]; leftOut: number } | null {
  const message = part?.type === "text" ? part.text : "";
  const text = /^<summary_of_earlier_conversation>\n(.*)\n<\/summary_of_earlier_conversation>$/s.exec(
    message,
  )?.[1];
  if (text === undefined) return null;
  const gap = /\n--- (\d+) messages left out ---(?=\n|$)/;
  const [, ...said] = text.replace(gap, "").split("\n--- user ---\n");
  return { said: said.map(textContent), leftOut: Number(gap.exec(text)?.[1] ?? 0) };
}
