import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { foldSession } from "../../src/runtime/protocol/session-fold.ts";
import { NO_USAGE, addUsage } from "../../src/runtime/protocol/usage.ts";
import type { Usage } from "../../src/runtime/protocol/usage.ts";
import { ProductProcess } from "../e2e/product-process.ts";
import { pendingAlarms } from "./alarms.ts";
import { Api } from "./api.ts";
import { readAll, readLog } from "./collect.ts";
import { defineAgent } from "./crowd.ts";
import type { Violation } from "./evidence.ts";
import type { KillKind } from "./killer.ts";
import { PlannedModel } from "./planned-model.ts";
import { runRound } from "./round.ts";
import type { Round, RoundOptions } from "./round.ts";

/** An alarm that outlived its turn goes within a heartbeat; this leaves room for a busy machine. */
const ALARMS_MS = 60_000;

/** The product under torture: one state for all rounds, with sessions of their own for each. */
export class Torture {
  readonly #model = new PlannedModel();
  #product: ProductProcess | null = null;
  #rounds = 0;
  /** What is known of each log that came to rest. */
  readonly #logs = new Map<string, { readonly digest: string; readonly usage: Usage }>();

  async start(): Promise<void> {
    const baseUrl = await this.#model.start();
    this.#product = new ProductProcess({
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: baseUrl,
      OPENAI_MODEL: "fake",
    });
    await this.#product.start();
    await defineAgent(new Api(this.#product));
  }

  /** Ends every process and removes the state. */
  async stop(): Promise<void> {
    await this.#product?.stop();
    await this.#model.stop();
  }

  /** The next round, of so many kills; the second of every third takes all processes. */
  async round({
    kills,
    ...options
  }: Omit<RoundOptions, "kills"> & { readonly kills: number }): Promise<Round> {
    const all = this.#rounds % 3 === 1;
    const kinds = Array.from({ length: kills }, (_, at): KillKind =>
      all && at === 1 ? "product" : "worker",
    );
    this.#rounds += 1;
    const round = await runRound(this.#running, this.#model, { ...options, kills: kinds });
    for (const { account, log } of round.sessions) {
      this.#logs.set(account.session, { digest: digestOf(log), usage: foldSession(log).usage });
    }
    return round;
  }

  /** What rounds ago came to rest is still the same, whatever was killed since. */
  async recheck(): Promise<Violation[]> {
    const api = new Api(this.#running);
    const violations: Violation[] = [];
    for (const [session, { digest }] of this.#logs) {
      const same = digestOf(await readLog(api, session)) === digest;
      if (!same) violations.push({ rule: "LOG-69", session, message: "its log has changed since its round" });
    }
    return violations;
  }

  /** Waits until no session has an alarm due, since one that rests needs none; then the tenant has heard of all. */
  async settle(): Promise<Violation[]> {
    const { state } = this.#running;
    for (const deadline = Date.now() + ALARMS_MS; Date.now() < deadline; await delay(500)) {
      if (pendingAlarms(state) === 0) return this.#checkTenant();
    }
    return [
      { rule: "TURN-31", session: "", message: `${pendingAlarms(state)} sessions at rest have an alarm` },
    ];
  }

  /** The tenant counts each token of the logs once, and shows its sessions at rest. */
  async #checkTenant(): Promise<Violation[]> {
    const api = new Api(this.#running);
    const { data } = await api.get<{ data: { usage: Usage }[] }>("/v1/usage");
    const counted = JSON.stringify(data.reduce((sum, entry) => addUsage(sum, entry.usage), NO_USAGE));
    const used = JSON.stringify(
      [...this.#logs.values()].reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    );
    const found = counted === used ? [] : [`the tenant counts ${counted}, the logs ${used}`];
    const sessions = await readAll<{ id: string; status: string }>(api, "/v1/sessions");
    const busy = sessions
      .filter(({ status }) => status !== "idle")
      .map(({ id, status }) => `${id} is ${status}`);
    return [...found, ...busy].map((message) => ({ rule: "LOG-64", session: "the tenant", message }));
  }

  get #running(): ProductProcess {
    if (!this.#product) throw new Error("The product has not been started.");
    return this.#product;
  }
}

function digestOf(log: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(log)).digest("hex");
}
