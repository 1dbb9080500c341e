import { setTimeout as delay } from "node:timers/promises";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { Account, SentDecision } from "./account.ts";
import type { Api } from "./api.ts";
import { codeOf } from "./driver.ts";
import type { Random } from "./random.ts";
import type { SocketClient } from "./socket-client.ts";

type OpenRequest = DurableEvent<"approval_request"> | DurableEvent<"input_request">;

const PEOPLE = ["ann", "bob"];

/** The people who are asked: they answer after a while, now and then both at once and each otherwise. */
export class People {
  readonly #api: Api;
  readonly #account: Account;
  readonly #socket: SocketClient;
  readonly #random: Random;
  #replaced = 0;

  constructor(api: Api, account: Account, socket: SocketClient, random: Random) {
    this.#api = api;
    this.#account = account;
    this.#socket = socket;
    this.#random = random;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(this.#random.int(100, 600));
      const reply = await this.#api.call("GET", `/v1/sessions/${this.#account.session}/requests`);
      if (reply?.status !== 200) continue;
      const { data } = reply.body as { data: OpenRequest[] };
      for (const request of data) if (this.#random.chance(0.7)) await this.#answer(request);
    }
  }

  async #answer(request: OpenRequest): Promise<void> {
    const people = this.#random.chance(0.4) ? PEOPLE : [this.#random.pick(PEOPLE)];
    await Promise.all(people.map((by) => this.#say(request, by)));
  }

  async #say(request: OpenRequest, by: string): Promise<void> {
    const asked = request.type === "approval_request";
    const id = asked ? request.approvalId : request.inputId;
    const said = asked ? this.#decision(request) : { text: `${by} says so` };
    const sent: SentDecision = { id, said, by, confirmed: false };
    (asked ? this.#account.decisions : this.#account.answers).push(sent);
    const frame = asked ? { type: "approve", approvalId: id } : { type: "answer", inputId: id };
    const told = this.#random.chance(0.3) ? await this.#socket.command({ ...frame, ...said }) : null;
    if (told) return this.#told(sent, told.type === "ack" ? "" : codeOf(told));
    const path = `/v1/sessions/${this.#account.session}/${asked ? "approvals" : "inputs"}/${id}`;
    const reply = await this.#api.call("POST", path, { body: said, headers: { "x-user-id": by } });
    if (reply) this.#told(sent, reply.status === 200 ? "" : codeOf(reply.body));
  }

  /** @param refusal The code of what refused the answer; empty when it was taken. */
  #told(sent: SentDecision, refusal: string): void {
    sent.confirmed = refusal === "";
    if (!["", "already_decided"].includes(refusal)) {
      this.#account.problems.push(`${sent.by}'s answer to ${sent.id} was refused with ${refusal}`);
    }
  }

  #decision({ args }: DurableEvent<"approval_request">): SentDecision["said"] {
    const decision = this.#random.chance(0.6) ? ("allow" as const) : ("deny" as const);
    if (decision === "deny" || this.#random.chance(0.7)) return { decision };
    const content = `replaced ${++this.#replaced}`;
    return {
      decision,
      args: { path: args["path"], content },
      ...(this.#random.chance(0.2) ? { remember: true } : {}),
    };
  }
}
