import type { Answer } from "../../src/runtime/protocol/answer.ts";
import type { SessionEnvironment } from "../../src/durable/session-keeper.ts";
import type {
  ModelPacer,
  SkillLibrary,
  TenantTurns,
  TurnLeave,
  TurnReport,
} from "../../src/durable/tenant-api.ts";
import type { WorkspaceApi } from "../../src/durable/workspace-api.ts";
import type { ErrorCode } from "../../src/runtime/protocol/errors.ts";
import type { Changed, FileChange, WorkspaceWriter } from "../../src/runtime/workspace/workspace.ts";
import { InjectedFault } from "./faults.ts";
import type { World } from "./world.ts";

/** Something that a tool has done to the world; it cannot be taken back. */
export interface Effect {
  readonly callId: string;
  readonly tool: string;
  /** Names the model's wish: no two calls of any reply have the same. */
  readonly token: number;
}

interface Fence {
  readonly turn: number;
  readonly wakes: number;
}

/**
 * What surrounds the session object: its tenant, its workspace, the bucket, and the list of effects, which no crash
 * touches. A call to it travels, so that it can arrive after its caller has died, or never.
 */
export class Outside {
  readonly effects: Effect[] = [];
  /** What the tenant was told of each turn's end. */
  readonly reports: TurnReport[] = [];
  readonly #world: World;
  readonly #outcomes = new Map<string, Changed>();
  /** How long a leg of a call takes at most, in ms: a quick network, or one that leaves time for much to happen. */
  readonly #latency: number;
  /** The same of a turn's report: where it is long, a later one can overtake it. */
  readonly #reportLatency: number;
  #version = 0;
  #fence: Fence = { turn: 0, wakes: 0 };

  constructor(world: World) {
    this.#world = world;
    this.#latency = world.dice.pick([2, 20, 400]);
    this.#reportLatency = world.dice.pick([this.#latency, this.#latency, 4_000]);
  }

  environment(): SessionEnvironment {
    const tenant: TenantTurns & ModelPacer & SkillLibrary = {
      beginTurn: ({ admit }) => this.#call("beginTurn", () => this.#begin(admit)),
      endTurn: (report) =>
        this.#call("endTurn", () => {
          this.reports.push(report);
          return { ok: true, value: { heard: report.index.head } };
        }),
      // No simulated tenant has a limit of its own.
      reserveCall: () => this.#call("reserveCall", () => ({ ok: true, value: 0 })),
      returnCall: () => this.#call("returnCall", () => ({ ok: true, value: null })),
      // No simulated agent has skills.
      skillText: () => this.#call("skillText", () => refused("not_found")),
      skillFile: () => this.#call("skillFile", () => refused("not_found")),
      keyStanding: () => this.#call("keyStanding", () => ({ ok: true, value: { role: "admin" } })),
    };
    const workspace: Pick<WorkspaceApi, "version" | "change" | "outcome" | "revert"> = {
      version: () => this.#call("version", () => ({ ok: true, value: this.#version })),
      change: (_branch, writer, changes) => {
        this.#world.oracle.changeAsked(writer.source?.callId ?? "");
        return this.#call("change", () => this.#change(writer, changes));
      },
      revert: () => this.#call("revert", () => ({ ok: true, value: { version: null, skipped: [] } })),
      outcome: (writer, callId) => this.#call("outcome", () => this.#outcome(writer, callId)),
    };
    return {
      // No simulated session is forked, so nobody asks for another one.
      SESSION: {
        getByName: () => {
          throw new Error("There is no other session.");
        },
      },
      TENANT: { getByName: () => tenant },
      // No simulated agent remembers.
      MEMORY: {
        getByName: () => {
          throw new Error("There is no memory.");
        },
      },
      WORKSPACE: { getByName: () => workspace as WorkspaceApi },
      FILES: { put: () => this.#call("put", () => ({})) } as unknown as R2Bucket,
    };
  }

  happen(effect: Effect): void {
    this.effects.push(effect);
    this.#world.tally.count(`effect: ${effect.tool}`);
    this.#world.trace(`* effect of ${effect.tool} ${effect.token} (${effect.callId})`);
  }

  /** One call over the network: it lands, then its answer comes back; either leg can take time or be lost. */
  #call<T>(label: string, land: () => T): Promise<T> {
    const { scheduler, dice, weather, tally } = this.#world;
    const latency = label === "endTurn" ? this.#reportLatency : this.#latency;
    const leg = (): number => dice.between(0, latency);
    const fails = dice.chance(weather.callFails);
    const hangs = dice.chance(weather.callHangs);
    const landsFirst = dice.chance(0.5);
    if (fails) tally.count(`call failed: ${label}`);
    if (hangs) tally.count(`call never answered: ${label}`);
    return new Promise((resolve, reject) => {
      const back = (settle: () => void): void => {
        if (!hangs) void scheduler.after(leg(), `${label} answers`, settle);
      };
      const fail = (): void => reject(new InjectedFault(`${label}: network connection lost`));
      if (fails && !landsFirst) return back(fail);
      const answering = new Promise<T>((landed) => {
        scheduler.afterOutside(leg(), `${label} lands`, () => landed(land()));
      });
      void answering.then((value) => back(() => (fails ? fail() : resolve(value))));
    });
  }

  #begin(admit: boolean): Answer<TurnLeave> {
    const { dice, weather } = this.#world;
    if (admit && dice.chance(weather.callFails)) return refused("too_many_turns");
    return { ok: true, value: { providers: [], resting: [], tokensLeft: null } };
  }

  #change({ source }: WorkspaceWriter, changes: readonly FileChange[]): Answer<Changed> {
    if (!source || this.#isFenced(source)) return refused("write_fenced");
    this.#fence = source;
    this.#version += 1;
    const paths = changes.flatMap((change) => (change.kind === "write" ? [change.path] : []));
    const changed = { version: this.#version, paths };
    this.#outcomes.set(source.callId, changed);
    for (const path of paths) this.happen({ callId: source.callId, tool: "lookup", token: Number(path) });
    return { ok: true, value: changed };
  }

  #outcome({ source }: WorkspaceWriter, callId: string): Answer<Changed | null> {
    if (source && !this.#isFenced(source)) this.#fence = source;
    return { ok: true, value: this.#outcomes.get(callId) ?? null };
  }

  #isFenced({ turn, wakes }: Fence): boolean {
    const seen = this.#fence;
    return turn < seen.turn || (turn === seen.turn && wakes < seen.wakes);
  }
}

function refused(code: ErrorCode): Answer<never> {
  return { ok: false, error: { code, message: "Refused by the simulated world." } };
}
