import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { CallRecord, LogMirror } from "./log-mirror.ts";
import { TOOL_FACTS } from "./tools.ts";
import type { World } from "./world.ts";

/** How soon something has to happen that nothing holds up, in ms: hooks and hashes of the simulated world take less. */
const SOON_MS = 3_000;

/** Wakes of a turn without progress before it is given up; fewer must not end it. */
const MANY_WAKES = 5;

/** What has to happen at once, and what must not happen before its time. */
export class PaceChecks {
  readonly #world: World;
  readonly #mirror: LogMirror;
  /** Turns whose model has been asked. */
  readonly #asked = new Set<number>();
  /** Instances and failed writes when the turn began. */
  #before = 0;

  constructor(world: World, mirror: LogMirror) {
    this.#world = world;
    this.#mirror = mirror;
  }

  /** Counts whatever can hold a turn up: then the time that passes is not the product's. */
  get #disturbances(): number {
    return this.#world.faults + this.#world.platform.lives;
  }

  durable(event: DurableEvent): void {
    if (event.type === "input") {
      this.#before = this.#disturbances;
      this.#soon(event.turn, () => (this.#asked.has(event.turn) ? null : "asks no model"));
    }
    if (event.type === "approval_resolved" && event.decision === "allow") {
      this.#soon(event.turn, () => (this.#couldRun(event.callId) ? `lets ${event.callId} wait` : null));
    }
    if (event.type === "error" && event.code === "crash_loop") {
      const wakes = this.#disturbances - this.#before;
      if (wakes < MANY_WAKES) this.#violate(`turn ${event.turn} is given up after ${wakes} wakes`);
    }
  }

  modelCalled(): void {
    const { scheduler, platform } = this.#world;
    const turn = this.#mirror.openTurn;
    if (turn === null) return;
    this.#asked.add(turn);
    const [row] = platform.disk.run("SELECT value FROM meta WHERE key = 'parked'");
    const parked = row ? (JSON.parse(row["value"] as string) as { turn: number; retryAt: number }) : null;
    if (parked?.turn !== turn || parked.retryAt <= scheduler.now) return;
    this.#violate(`turn ${turn} asks its model ${parked.retryAt - scheduler.now} ms too early`);
  }

  /** Looks again a little later, unless something held the turn up or ended it. */
  #soon(turn: number, wrong: () => string | null): void {
    const before = this.#disturbances;
    const { platform, scheduler } = this.#world;
    const { life } = platform;
    scheduler.afterOutside(SOON_MS, "is it done?", () => {
      const { openTurn, interrupts } = this.#mirror;
      if (openTurn !== turn || interrupts.has(turn) || before !== this.#disturbances) return;
      if (platform.life !== life) return;
      const fault = wrong();
      if (fault !== null) this.#violate(`turn ${turn} ${fault}, though nothing holds it up`);
    });
  }

  /** Whether a call has not begun though it may and there is room for it. */
  #couldRun(callId: string): boolean {
    const call = this.#mirror.calls.get(callId);
    if (!call || call.started || call.result) return false;
    const mine = [...this.#mirror.calls.values()].filter(
      ({ turn, step }) => turn === call.turn && step === call.step,
    );
    const alone = ({ name }: CallRecord): boolean => TOOL_FACTS.get(name)?.alone === true;
    const running = mine.filter(({ started, result, question }) => started && !result && !question);
    const room = running.length < this.#world.limits.parallelCalls;
    return room && !running.some(alone) && !mine.some((other) => alone(other) && !other.result);
  }

  #violate(message: string): void {
    this.#world.violate("pace", message);
  }
}
