import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Alarms } from "./alarms.ts";
import type { LiveSession } from "./live-session.ts";
import type { MetaStore } from "./meta-store.ts";
import { META } from "./session-settings.ts";
import type { Parked, Recovery } from "./session-settings.ts";
import { NO_USAGE } from "../runtime/protocol/usage.ts";
import type { TenantTurns } from "./tenant-api.ts";

export interface TurnKeeperParts {
  readonly ctx: Pick<DurableObjectState, "waitUntil"> & {
    readonly storage: Pick<DurableObjectStorage, "sync">;
  };
  readonly meta: MetaStore;
  readonly alarms: Alarms;
  readonly tenant: (id: string) => TenantTurns;
  /** Takes or renews the lease of the open turn, of whose tokens the tenant knows so many. */
  readonly resume: (session: LiveSession, knownTokens: number) => Promise<void>;
  /** Whether something else than a turn still needs the alarm. */
  readonly busy: () => boolean;
}

/** Sees to it that a turn goes on whatever dies, that somebody comes when it has to, and that the tenant hears of it. */
export class TurnKeeper {
  readonly #parts: TurnKeeperParts;
  /** Whether the tenant was last told that the open turn waits: then it holds no lease. */
  #waits = false;
  /** When the open turn's lease was last taken, in ms since the epoch; 0 when that is not known. */
  #leasedAt = 0;
  /** Tokens of the open turn that the tenant was told of. */
  #knownTokens = 0;
  /** The lease that is being taken again, and the reports that are under way. */
  #leasing: Promise<void> | null = null;
  readonly #reporting = new Set<Promise<void>>();

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
    this.#waits = agent.getState().status === "waiting";
    this.#knownTokens = this.#waits ? tokensOf(session) : 0;
    this.arm(session);
  }

  /** The open turn may not ask its model before that time (ms since the epoch). */
  park(session: LiveSession, retryAt: number): void {
    const { meta, alarms } = this.#parts;
    meta.set(META.parked, { turn: session.agent.fold.turn, retryAt } satisfies Parked);
    alarms.wakeBy(retryAt);
    this.#followWaiting(session);
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
    if (events.some(({ type }) => type === "input")) {
      this.#leasedAt = Date.now();
      this.#knownTokens = 0;
    }
    // Not at its beginning only: a turn that a person's answer lets go on may have no alarm due for weeks.
    // A summary between turns has cost something that the tenant has to hear of.
    const spends = events.some((event) => event.type === "agent_summary" && event.kind === "manual");
    if (session.agent.fold.open || spends) this.heartbeat(session);
    const rests = events.some(({ type }) => type === "agent_stop" || type === "checkpoint_restore");
    if (rests) this.#parts.ctx.waitUntil(this.report(session));
    this.#followWaiting(session);
  }

  /** A turn that waits counts as none that runs, and the tenant's list of sessions says that it waits. */
  #followWaiting(session: LiveSession): void {
    const waits = session.agent.getState().status === "waiting";
    if (waits === this.#waits) return;
    this.#waits = waits;
    if (waits) this.#parts.ctx.waitUntil(this.report(session));
    else if (session.agent.fold.open) this.#lease(session);
  }

  /** A turn that runs for long keeps its lease: whoever comes by for it, comes often enough. */
  renewLease(session: LiveSession): void {
    const isDue = Date.now() - this.#leasedAt >= session.limits.leaseMs / 2;
    if (isDue && session.agent.getState().status === "running") this.#lease(session);
  }

  /** A report gives the lease back, so that neither may overtake the other. */
  #lease(session: LiveSession): void {
    this.#leasedAt = Date.now();
    const { ctx, resume } = this.#parts;
    const leasing = Promise.allSettled(this.#reporting).then(() => resume(session, this.#knownTokens));
    this.#leasing = leasing;
    ctx.waitUntil(
      leasing.finally(() => {
        if (this.#leasing === leasing) this.#leasing = null;
      }),
    );
  }

  /** Tells the tenant that the turn has ended or waits. The alarm stays until it knows of an end, and tells it again. */
  report(session: LiveSession): Promise<void> {
    const reporting = this.#leasing
      ? this.#leasing.then(() => this.#reportUnlessRunning(session))
      : this.#reportUnlessRunning(session);
    this.#reporting.add(reporting);
    return reporting.finally(() => this.#reporting.delete(reporting));
  }

  /** Of a turn that runs there is nothing to tell before its end. */
  async #reportUnlessRunning(session: LiveSession): Promise<void> {
    if (session.agent.getState().status !== "running") await this.#report(session);
  }

  async #report(session: LiveSession): Promise<void> {
    const { alarms, tenant, busy } = this.#parts;
    try {
      const to = tenant(session.settings.tenant);
      let report = session.report();
      const tokens = tokensOf(session);
      let told = await to.endTurn(report);
      // Earlier reports were lost.
      if (told.ok && told.value.heard < report.auditAfter) {
        report = session.report(told.value.heard);
        told = await to.endTurn(report);
      }
      if (told.ok) session.models.health.reported(report.models);
      if (told.ok && report.turn === session.agent.fold.open?.turn) this.#knownTokens = tokens;
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

/** What the open turn has used so far; 0 without one. */
function tokensOf({ agent }: LiveSession): number {
  const { input, output } = agent.fold.open?.usage ?? NO_USAGE;
  return input + output;
}
