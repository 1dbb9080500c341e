import type { Answer } from "../../src/runtime/protocol/answer.ts";
import type { SessionKeeper } from "../../src/durable/session-keeper.ts";
import type { DecisionBody, RestoreBody } from "../../src/runtime/protocol/frames.ts";
import type { Asked } from "./requests.ts";
import type { SimulatedSocket } from "./socket.ts";
import type { World } from "./world.ts";

/** Frame types of the commands, by what is asked. */
const FRAMES = {
  prompt: "prompt",
  interrupt: "interrupt",
  withdraw: "unqueue",
  decide: "approve",
  answer: "answer",
  restore: "restore",
  compact: "compact",
};

/** What the target of a request is called in a frame. */
const TARGETS = {
  prompt: "promptId",
  interrupt: null,
  withdraw: "promptId",
  decide: "approvalId",
  answer: "inputId",
  restore: null,
  compact: null,
};

/** Brings requests to the object, as a call or over a socket, and keeps track of which answer belongs to which. */
export class Wire {
  readonly #world: World;
  readonly #byFrame = new Map<string | number, Asked>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Sends a request, with luck only once, and forgets it. */
  send(asked: Asked, socket: SimulatedSocket | null): void {
    const { scheduler, dice, weather, requests } = this.#world;
    const { kind, target, body, by } = asked;
    this.#world.trace(`? ${by.id}: ${kind} ${target} ${JSON.stringify(body)}`);
    const go = (one: Asked): void => {
      const latency = dice.chance(0.5) ? 0 : dice.between(0, 20);
      scheduler.after(latency, `${kind} ${target} arrives`, () => this.#arrive(one, socket));
    };
    go(asked);
    if (dice.chance(weather.repeated)) go(requests.ask(kind, target, body, by));
  }

  /** An ack or nack has left the object. */
  answered(frame: string | number, answer: Answer<unknown>): void {
    const asked = this.#byFrame.get(frame);
    if (asked) this.#world.oracle.answered(asked, answer);
  }

  #arrive(asked: Asked, socket: SimulatedSocket | null): void {
    const { platform, oracle } = this.#world;
    if (socket?.open) {
      const id = this.#byFrame.size + 1;
      this.#byFrame.set(id, asked);
      const key = TARGETS[asked.kind];
      const named = key === null ? {} : { [key]: asked.target };
      const frame = { id, type: FRAMES[asked.kind], ...named, ...asked.body };
      return platform.message(socket, JSON.stringify(frame));
    }
    const label = `${asked.kind} ${asked.target}`;
    void platform
      .call(label, (keeper) => carryOut(keeper, asked))
      .then((reply) => {
        if (reply === "lost") this.#world.trace(`< ${label}: lost`);
        else oracle.answered(asked, reply);
      });
  }
}

/** What the methods of src/durable/session.ts do. */
async function carryOut(keeper: SessionKeeper, { kind, target, body, by }: Asked): Promise<unknown> {
  if (kind === "prompt") return keeper.prompt({ promptId: target, ...body }, by);
  if (kind === "restore") return keeper.restore(body as unknown as RestoreBody, by);
  if (kind === "compact") return keeper.compact(body);
  const { session } = await keeper.enter();
  switch (kind) {
    case "interrupt":
      return session.interrupt(body, by);
    case "withdraw":
      await session.agent.withdraw(target, by);
      return null;
    case "decide":
      return session.decide(target, body as unknown as DecisionBody, by);
    case "answer":
      return session.answer(target, body, by);
  }
}
