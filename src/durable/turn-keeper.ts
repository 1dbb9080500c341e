import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Alarms } from "./alarms.ts";
import type { LiveSession } from "./live-session.ts";
import type { MetaStore } from "./meta-store.ts";
import { META } from "./session-settings.ts";
import type { Parked, Recovery } from "./session-settings.ts";
import type { TenantTurns } from "./tenant-api.ts";

export interface TurnKeeperParts {
  readonly ctx: Pick<DurableObjectState, "waitUntil"> & {
    readonly storage: Pick<DurableObjectStorage, "sync">;
  };
  readonly meta: MetaStore;
  readonly alarms: Alarms;
  readonly tenant: (id: string) => TenantTurns;
  /** Whether something else than a turn still needs the alarm. */
  readonly busy: () => boolean;
}

/** Sees to it that a turn goes on whatever dies, that somebody comes when it has to, and that the tenant hears of it. */
export class TurnKeeper {
  readonly #parts: TurnKeeperParts;

  constructor(parts: TurnKeeperParts) {
    this.#parts = parts;
  }

  /** Tells a session that was just opened what earlier processes left. */
  adopt(session: LiveSession): void {
    const { agent } = session;
    const parked = this.#parked();
    const recovery = this.#recovery();
    if (recovery && recovery.turn === agent.fold.open?.turn) agent.countFrom(recovery.wakes);
    if (parked?.turn === agent.fold.open?.turn && parked) agent.holdUntil(parked.retryAt);
    this.arm(session);
  }

  /** The open turn may not ask its model before that time (ms since the epoch). */
  park(turn: number, retryAt: number): void {
    const { meta, alarms } = this.#parts;
    meta.set(META.parked, { turn, retryAt } satisfies Parked);
    alarms.wakeBy(retryAt);
  }

  /** A turn without an owner goes on here; the wake is counted durably first, so that a crash loop comes to an end. */
  async recover(session: LiveSession): Promise<void> {
    const { agent } = session;
    if (!agent.isAbandoned) return;
    const { open } = agent.fold;
    if (!open) return agent.resume();
    const before = this.#recovery();
    const stuck = before?.turn === open.turn && before.progressSeq === open.progressSeq;
    // A turn that waited for its model's provider did not crash.
    const waited = this.#parked()?.turn === open.turn;
    // Within a turn `wakes` only grows: it numbers attempts, and tells a workspace which of two processes is the later.
    const wakes = before?.turn === open.turn ? before.wakes : 0;
    const stalls = stuck ? before.stalls : 0;
    const { turn, progressSeq } = open;
    const recovery: Recovery = { turn, progressSeq, wakes: wakes + 1, stalls: stalls + (waited ? 0 : 1) };
    const { ctx, meta } = this.#parts;
    meta.set(META.recovery, recovery);
    if (waited) meta.delete(META.parked);
    this.heartbeat(session);
    await ctx.storage.sync();
    void session.knowVersion();
    agent.resume(recovery.wakes, recovery.stalls);
  }

  heartbeat({ limits }: LiveSession): void {
    this.#parts.alarms.wakeBy(Date.now() + limits.heartbeatMs);
  }

  /** Makes sure that somebody comes when the turn or the queue needs it. */
  arm(session: LiveSession): void {
    const { agent } = session;
    const { open } = agent.fold;
    if (!open && agent.waiting.length === 0) return;
    const parked = this.#parked();
    const due = parked && parked.turn === open?.turn ? parked.retryAt : session.nextExpiry();
    if (agent.getState().status === "waiting" && Number.isFinite(due)) this.#parts.alarms.wakeBy(due);
    else this.heartbeat(session);
  }

  /** A commit of the session has been made. */
  committed(session: LiveSession, events: readonly DurableEvent[]): void {
    // Not at its beginning only: a turn that a person's answer lets go on may have no alarm due for weeks.
    // A summary between turns has cost something that the tenant has to hear of.
    const spends = events.some((event) => event.type === "agent_summary" && event.kind === "manual");
    if (session.agent.fold.open || spends) this.heartbeat(session);
    const rests = events.some(({ type }) => type === "agent_stop" || type === "checkpoint_restore");
    if (rests) this.#parts.ctx.waitUntil(this.report(session));
  }

  /** Tells the tenant of the turn's end. The alarm stays until it knows, and tells it again. */
  async report(session: LiveSession): Promise<void> {
    const { alarms, tenant, busy } = this.#parts;
    try {
      const to = tenant(session.settings.tenant);
      let report = session.report();
      let told = await to.endTurn(report);
      // Earlier reports were lost.
      if (told.ok && told.value.heard < report.auditAfter) {
        report = session.report(told.value.heard);
        told = await to.endTurn(report);
      }
      if (told.ok) session.models.health.reported(report.models);
      const { status, queuedPrompts, head } = session.agent.getState();
      // Of a turn that has ended meanwhile the tenant may not have heard.
      const isNewest = report.index.head === head;
      if (told.ok && isNewest && status === "idle" && queuedPrompts === 0 && !busy()) alarms.clear();
    } catch {
      // The tenant does not answer: the alarm that is still due will try again.
    }
  }

  #parked(): Parked | undefined {
    return this.#parts.meta.get<Parked>(META.parked);
  }

  #recovery(): Recovery | undefined {
    return this.#parts.meta.get<Recovery>(META.recovery);
  }
}
