import { setTimeout as delay } from "node:timers/promises";
import type { InterruptReceipt, PromptReceipt } from "../../src/runtime/protocol/frames.ts";
import type { Account, SentPrompt } from "./account.ts";
import type { Api } from "./api.ts";
import { randomPlan, textOfPlan } from "./plan.ts";
import type { Random } from "./random.ts";
import type { SocketClient } from "./socket-client.ts";

/** Somebody who drives one session: one request after another, each repeated until it is answered. */
export class Driver {
  readonly #api: Api;
  readonly #account: Account;
  readonly #socket: SocketClient;
  readonly #random: Random;
  #prompts = 0;

  constructor(api: Api, account: Account, socket: SocketClient, random: Random) {
    this.#api = api;
    this.#account = account;
    this.#socket = socket;
    this.#random = random;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { session } = this.#account;
    while (!signal.aborted) {
      const action = this.#random.weighted({
        prompt: 50,
        burst: 6,
        again: 9,
        mismatch: 3,
        interrupt: 8,
        withdraw: 9,
        read: 6,
        wait: 6,
      });
      switch (action) {
        case "prompt":
          await this.#prompt();
          break;
        case "burst":
          await Promise.all([this.#prompt(), this.#prompt(), this.#prompt(), this.#again()]);
          break;
        case "again":
          await this.#again();
          break;
        case "mismatch":
          await this.#mismatch();
          break;
        case "interrupt":
          await this.#interrupt();
          break;
        case "withdraw":
          await this.#withdraw();
          break;
        case "read":
          await this.#api.call("GET", `/v1/sessions/${session}/${this.#random.pick(["queue", "messages"])}`);
          break;
        case "wait":
          await delay(this.#random.int(300, 1_000));
          break;
      }
      await delay(this.#random.pick([0, 10, 30, 100, 300]));
    }
  }

  /** Sends every accepted prompt once more: nothing may come of it but the first receipt. */
  async repeatAll(): Promise<void> {
    await Promise.all(this.#account.accepted.map((prompt) => this.#send(prompt)));
  }

  async #prompt(): Promise<void> {
    const { session } = this.#account;
    const promptId = `p${++this.#prompts}`;
    const text = textOfPlan(randomPlan(this.#random, session, promptId));
    const mode = this.#random.weighted({ queue: 35, steer: 25, follow_up: 15, interrupt: 6, reject: 15 });
    const prompt = this.#account.prompt({ promptId, text, mode });
    // Now and then twice at once, as a client does that does not wait for its first answer.
    await Promise.all(
      this.#random.chance(0.1) ? [this.#send(prompt), this.#send(prompt)] : [this.#send(prompt)],
    );
  }

  async #again(): Promise<void> {
    const known = this.#account.accepted;
    if (known.length > 0) await this.#send(this.#random.pick(known));
  }

  /** Another body under a known id. */
  async #mismatch(): Promise<void> {
    const known = this.#account.accepted;
    if (known.length === 0) return;
    const { promptId } = this.#random.pick(known);
    const reply = await this.#api.call("POST", this.#path("prompt"), { body: { promptId, text: "another" } });
    if (reply && reply.status !== 409) {
      this.#account.problems.push(`another body for ${promptId} was answered ${JSON.stringify(reply)}`);
    }
  }

  /** Over the socket when there is one, else or when that breaks over REST, under the same id. */
  async #send(prompt: SentPrompt): Promise<void> {
    const sentAt = this.#account.tick();
    prompt.attempts += 1;
    if (this.#random.chance(0.3)) {
      const answer = await this.#socket.command({ type: "prompt", ...prompt.body });
      if (answer?.type === "ack") return this.#account.acked(prompt, answer.result as PromptReceipt);
      if (answer) return this.#refused(prompt, sentAt, answer.error.code);
      prompt.attempts += 1;
    }
    const reply = await this.#api.call("POST", this.#path("prompt"), { body: prompt.body });
    prompt.attempts += (reply?.attempts ?? 1) - 1;
    if (reply?.status === 202) this.#account.acked(prompt, reply.body as PromptReceipt);
    else if (reply) this.#refused(prompt, sentAt, codeOf(reply.body));
  }

  #refused(prompt: SentPrompt, sentAt: number, code: string): void {
    const { promptId, receipt, ackedAt } = prompt;
    const known = ackedAt !== null && ackedAt < sentAt;
    const expected = prompt.body.mode === "reject" ? ["busy", "queue_full"] : ["queue_full"];
    if (known || ![...expected, "rate_limited", "too_many_turns"].includes(code)) {
      this.#account.problems.push(`prompt ${promptId} was refused with ${code}`);
    }
    if (receipt === null) prompt.refused = code;
  }

  async #interrupt(): Promise<void> {
    const turn = Math.max(1, this.#socket.follower.view.frontier.turn - (this.#random.chance(0.2) ? 1 : 0));
    const body = {
      ...(this.#random.chance(0.5) ? { turn } : {}),
      ...(this.#random.chance(0.5) ? { reason: "torture" } : {}),
      ...(this.#random.chance(0.25) ? { clearQueue: true } : {}),
    };
    const sent = { body, sentAt: this.#account.tick(), receipt: null as InterruptReceipt | null };
    this.#account.interrupts.push(sent);
    const reply = await this.#api.call("POST", this.#path("interrupt"), { body });
    if (reply?.status === 200) sent.receipt = reply.body as InterruptReceipt;
    else if (reply) this.#account.problems.push(`an interrupt was answered ${JSON.stringify(reply)}`);
  }

  async #withdraw(): Promise<void> {
    const waiting = this.#account.accepted.filter(({ receipt }) => receipt?.status === "queued");
    const prompt = waiting.at(-1);
    if (!prompt) return;
    if (prompt.withdrawal === "none") prompt.withdrawal = "asked";
    const reply = await this.#api.call("DELETE", this.#path(`queue/${prompt.promptId}`));
    if (reply?.status === 204) prompt.withdrawal = "acked";
    else if (reply && reply.status !== 404) {
      this.#account.problems.push(`a withdrawal was answered ${JSON.stringify(reply)}`);
    }
  }

  #path(rest: string): string {
    return `/v1/sessions/${this.#account.session}/${rest}`;
  }
}

/** The code of an error's body. */
export function codeOf(body: unknown): string {
  const { error } = body as { error?: { code?: string } };
  return error?.code ?? JSON.stringify(body);
}
