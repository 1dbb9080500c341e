import type { Client } from "./client.ts";
import type { CallRecord } from "./log-mirror.ts";
import type { Asked } from "./requests.ts";
import type { World } from "./world.ts";

const ACTIONS = {
  prompt: 8,
  repeat: 2,
  interrupt: 2,
  withdraw: 1,
  swap: 1,
  decide: 6,
  restore: 1.5,
  compact: 0.7,
  connect: 2,
  disconnect: 0.7,
  rest: 1,
};

const MODES = { queue: 3, steer: 3, follow_up: 2, interrupt: 1, reject: 1 };

/** What people do: prompt in every way, stop, withdraw, decide, answer, come and go. */
export class People {
  readonly #world: World;
  readonly #clients: readonly Client[];
  #prompts = 0;
  #edits = 0;

  constructor(world: World, clients: readonly Client[]) {
    this.#world = world;
    this.#clients = clients;
  }

  /** One of them does something. */
  act(): void {
    const { dice } = this.#world;
    const client = dice.pick(this.#clients);
    switch (dice.weighted(ACTIONS)) {
      case "prompt":
        return this.prompt(client);
      case "repeat":
        return this.#repeat(client);
      case "interrupt":
        return this.#interrupt(client);
      case "withdraw":
        return this.#withdraw(client);
      case "swap":
        this.#withdraw(client);
        this.prompt(client);
        return this.prompt(client);
      case "decide":
        return this.#decide(client);
      case "restore":
        return this.#restore(client);
      case "compact":
        return this.#ask(client, "compact", "", {});
      case "connect":
        return client.connect();
      case "disconnect":
        return client.disconnect();
      case "rest":
        return;
    }
  }

  /** Now and then somebody acts at once on what has just happened, on the end of a turn above all. */
  react(type: string): void {
    const { dice, scheduler, calm } = this.#world;
    if (calm || !dice.chance(type === "agent_stop" ? 0.25 : 0.04)) return;
    scheduler.afterOutside(dice.between(0, 10), "people react", () => this.act());
  }

  prompt(client: Client): void {
    const { dice } = this.#world;
    this.#prompts += 1;
    const mode = dice.weighted(MODES);
    const model = dice.chance(0.1) ? { model: dice.pick(["sim/other", "sim/other", "unknown"]) } : {};
    const named = mode === "queue" && dice.chance(0.5) ? {} : { mode };
    this.#ask(client, "prompt", `p${this.#prompts}`, { text: `Prompt ${this.#prompts}`, ...named, ...model });
  }

  /** The same prompt again, as after a lost answer; now and then another text under the same id. */
  #repeat(client: Client): void {
    const { dice, requests } = this.#world;
    const before = requests.of("prompt");
    if (before.length === 0) return;
    const { target, body } = dice.pick(before);
    const other = dice.chance(0.3) ? { text: `Not ${String(body["text"])}` } : {};
    this.#ask(client, "prompt", target, { ...body, ...other });
  }

  #interrupt(client: Client): void {
    const { dice, oracle } = this.#world;
    const current = oracle.mirror.inputs.size;
    const turn = dice.chance(0.4) ? { turn: Math.max(1, current - dice.between(0, 1)) } : {};
    const reason = dice.chance(0.3) ? { reason: "enough" } : {};
    const clearQueue = dice.chance(0.3) ? { clearQueue: true } : {};
    this.#ask(client, "interrupt", "", { ...turn, ...reason, ...clearQueue });
  }

  #withdraw(client: Client): void {
    const { dice, requests, oracle } = this.#world;
    const prompts = requests.of("prompt").map(({ target }) => target);
    const waiting = prompts.filter((id) => !oracle.mirror.prompts.has(id));
    const among = waiting.length > 0 && dice.chance(0.9) ? waiting : prompts.slice(-4);
    if (among.length > 0) this.#ask(client, "withdraw", dice.pick(among), {});
  }

  /** Back to the end of a turn, now and then to where none ended. */
  #restore(client: Client): void {
    const { dice, oracle } = this.#world;
    const toSeq = dice.pick([0, ...oracle.mirror.stops.values(), dice.between(0, oracle.mirror.head + 1)]);
    const parts = dice.pick([{}, { files: false }, { conversation: false }]);
    this.#ask(client, "restore", "", { toSeq, ...parts });
  }

  /** Somebody answers what is open, or what is not any more; sometimes two do at once. */
  #decide(client: Client): void {
    const { dice, oracle } = this.#world;
    const all = [...oracle.mirror.calls.values()].filter(({ approval, question }) => approval ?? question);
    const open = oracle.mirror.openRequests;
    const among = open.length > 0 && dice.chance(0.85) ? open : all;
    if (among.length === 0) return;
    const call = dice.pick(among);
    this.answer(client, call);
    if (dice.chance(0.3)) this.answer(dice.pick(this.#clients), call);
  }

  answer(client: Client, call: CallRecord): void {
    const { dice } = this.#world;
    if (call.question) {
      return this.#ask(client, "answer", call.question.id, { text: dice.pick(["yes", "no", "maybe"]) });
    }
    if (!call.approval) return;
    const decision = dice.weighted({ allow: 3, deny: 1 });
    this.#ask(client, "decide", call.approval.id, { decision, ...this.#edit(call), ...this.#remember() });
  }

  #edit({ args }: CallRecord): object {
    const { dice, tally } = this.#world;
    if (!dice.chance(0.3)) return {};
    this.#edits += 1;
    if (dice.chance(0.1)) return { args: { token: "not a number" } };
    tally.count("arguments replaced");
    return { args: { token: args["token"], note: `edit ${this.#edits}` } };
  }

  #remember(): object {
    return this.#world.dice.chance(0.1) ? { remember: true } : {};
  }

  #ask(client: Client, kind: Asked["kind"], target: string, body: Asked["body"]): void {
    const { wire, requests, dice } = this.#world;
    const asked = requests.ask(kind, target, body, client.by);
    wire.send(asked, dice.chance(0.5) ? client.socket : null);
  }
}
