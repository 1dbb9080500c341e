import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { ProductProcess } from "../e2e/product-process.ts";
import type { Random } from "./random.ts";

/** What was killed: the process that runs the Worker alone, or all processes of the product at once. */
export type KillKind = "worker" | "product";

/**
 * What a kill waits for, by weight, so that the moments around each of them are hit: events and frames that a client
 * gets, and `calls`, a reply with calls of the model.
 */
const MOMENTS = {
  calls: 12,
  input: 1,
  steer: 1,
  text_delta: 2,
  agent_trace: 1,
  tool_call_start: 2,
  tool_result: 2,
  approval_request: 1,
  approval_resolved: 2,
  interrupt: 2,
  prompt_dropped: 1,
  agent_stop: 1,
  ack: 1,
} as const;

/** The longest wait for a moment that does not come, and for a server that was killed to answer again. */
const MOMENT_MS = 1_500;
const REVIVAL_MS = 30_000;

/** Kills the product again and again by `kill -9`, in the middle of whatever it does. */
export class Killer {
  readonly kills: Record<KillKind, number> = { worker: 0, product: 0 };
  /** Times that the development server did not come back by itself and was started anew. */
  revivals = 0;
  readonly #product: ProductProcess;
  readonly #random: Random;
  #awaited: { readonly moment: string; readonly seen: () => void } | null = null;

  constructor(product: ProductProcess, random: Random) {
    this.#product = product;
    this.#random = random;
  }

  /** Something has happened that a kill may wait for. */
  notice(type: string): void {
    if (this.#awaited?.moment === type) this.#awaited.seen();
  }

  /** Makes these kills one after another; the product answers when this returns. */
  async run(kinds: readonly KillKind[]): Promise<void> {
    for (const kind of kinds) {
      let worker = await this.#worker();
      await this.#wait();
      while (!(await this.#kill(kind, worker))) worker = await this.#worker();
    }
    await this.revived();
  }

  async #wait(): Promise<void> {
    await delay(this.#random.int(50, 1_000));
    if (this.#random.chance(0.2)) return;
    const moment = this.#random.weighted(MOMENTS);
    const seen = new Promise<void>((resolve) => (this.#awaited = { moment, seen: resolve }));
    await Promise.race([seen, delay(MOMENT_MS)]);
    this.#awaited = null;
    await delay(this.#random.pick([0, 0, 5, 10, 20, 40, 80, 160]));
  }

  /** False when there was nothing to kill. */
  async #kill(kind: KillKind, worker: number): Promise<boolean> {
    if (kind === "product") {
      await this.#product.kill();
      await this.#product.start();
    } else if (!killed(worker)) return false;
    this.kills[kind] += 1;
    // Mostly once it is back; else the next kill meets it while it starts.
    if (this.#random.chance(0.8)) await this.revived();
    return true;
  }

  /** Waits until the product answers; when the development server is stuck, starts all of it anew. */
  async revived(): Promise<void> {
    for (const deadline = Date.now() + REVIVAL_MS; Date.now() < deadline; await delay(50)) {
      const signal = AbortSignal.timeout(5_000);
      const response = await this.#product.fetch("/healthz", { signal }).catch(() => null);
      await response?.body?.cancel();
      if (response?.ok) return;
    }
    this.revivals += 1;
    await this.#product.kill();
    await this.#product.start();
  }

  /** The process that runs the Worker: the one with a port for a debugger. The other one is the server's front. */
  async #worker(): Promise<number> {
    for (;;) {
      const args = ["-ww", "-o", "pid=,args=", "-p", this.#product.processes().join(",")];
      const { stdout } = spawnSync("ps", args, { encoding: "utf8" });
      const lines = stdout.split("\n").filter((line) => line.includes("workerd serve"));
      const found = lines.find((line) => line.includes("--debug-port="));
      if (found !== undefined) return Number.parseInt(found, 10);
      await this.revived();
    }
  }
}

/** False when there is no such process any more: the development server replaces it for reasons of its own, too. */
function killed(id: number): boolean {
  try {
    return process.kill(id, "SIGKILL");
  } catch {
    return false;
  }
}
