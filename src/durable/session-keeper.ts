import type { Connection } from "partyserver";
import { deployment } from "../deployment.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Compacted } from "../runtime/agent/compaction-desk.ts";
import { LightAgentError, toErrorBody } from "../runtime/protocol/errors.ts";
import { CLOSE } from "../runtime/protocol/websocket.ts";
import type {
  CompactBody,
  PromptBody,
  PromptReceipt,
  RestoreBody,
  SessionState,
} from "../runtime/protocol/frames.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { Alarms } from "./alarms.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { ForkCopy } from "./fork-copy.ts";
import { inTime } from "./in-time.ts";
import { LiveSession } from "./live-session.ts";
import type { MemoryApi } from "./memory-api.ts";
import { MetaStore } from "./meta-store.ts";
import { hasSchema, migrate } from "./migrations.ts";
import type {
  Caller,
  CreateSession,
  ForkOrigin,
  ForkPoint,
  SessionKin,
  UpdateSession,
} from "./session-api.ts";
import { SessionBindings } from "./session-bindings.ts";
import { SessionForks } from "./session-forks.ts";
import { SESSION_MIGRATIONS } from "./session-migrations.ts";
import type { SessionModelEnvironment } from "./session-models.ts";
import { SessionPast } from "./session-past.ts";
import type { PastPage, PastPoint } from "./session-past.ts";
import { SessionRemoval } from "./session-removal.ts";
import { SessionRestore } from "./session-restore.ts";
import { META, sameRequest } from "./session-settings.ts";
import type { SessionSettings } from "./session-settings.ts";
import { runCommand } from "./socket-commands.ts";
import { Sockets } from "./sockets.ts";
import type {
  ModelPacer,
  SkillLibrary,
  TenantTurns,
  TurnBeginning,
  TurnLease,
  TurnLeave,
} from "./tenant-api.ts";
import { TurnKeeper } from "./turn-keeper.ts";
import type { WorkspaceApi } from "./workspace-api.ts";

/** An alarm that could not do its work comes again as soon as that of a running turn: there may be one. */
const ALARM_AGAIN_MS = deployment.limits.heartbeatMs;

/** What holds while nothing is kept: of most tenants nothing ever is. */
const NO_LEAVE: TurnLeave = { providers: [], resting: [], tokensLeft: null };

/** What the session finds in its environment: the platform's types of stubs lose the answers' types. */
export interface SessionEnvironment extends SessionModelEnvironment {
  readonly SESSION: { getByName(name: string): SessionKin };
  readonly TENANT: { getByName(name: string): TenantTurns & ModelPacer & SkillLibrary };
  readonly WORKSPACE: { getByName(name: string): WorkspaceApi };
  readonly MEMORY: { getByName(name: string): MemoryApi };
  readonly FILES: R2Bucket;
}

/** A session that is open in memory. */
export interface Opened {
  readonly session: LiveSession;
  readonly sockets: Sockets;
  readonly restore: SessionRestore;
}

/**
 * Keeps one session alive: creates, opens, recovers, ends it. Whatever wakes the object comes through `enter`, and
 * finds the session going on where its log says, so recovery waits for no alarm.
 */
export class SessionKeeper {
  readonly #ctx: DurableObjectState;
  readonly #env: SessionEnvironment;
  readonly #connections: () => Iterable<Connection>;
  readonly #meta: MetaStore;
  readonly #alarms: Alarms;
  readonly #bindings: SessionBindings;
  readonly #past: SessionPast;
  readonly #forks: SessionForks;
  readonly #copy: ForkCopy;
  readonly #removal: SessionRemoval;
  readonly #turns: TurnKeeper;
  #opened: Opened | null = null;
  #entering: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: SessionEnvironment, connections: () => Iterable<Connection>) {
    this.#ctx = ctx;
    this.#env = env;
    this.#connections = connections;
    this.#meta = new MetaStore(ctx.storage.sql);
    this.#alarms = new Alarms(ctx.storage, Date.now);
    this.#bindings = new SessionBindings(env);
    this.#past = new SessionPast(ctx.storage);
    this.#forks = new SessionForks(this.#meta);
    this.#copy = new ForkCopy(this.#meta, this.#past);
    this.#removal = new SessionRemoval({
      storage: ctx.storage,
      meta: this.#meta,
      alarms: this.#alarms,
      past: this.#past,
      objects: () => {
        const { tenant, id } = this.#requireSettings();
        return this.#bindings.objects(tenant, id);
      },
      claim: () => {
        const { tenant } = this.#requireSettings();
        return this.#forks.claim((id) => this.#bindings.session(tenant, id));
      },
      leave: async () => {
        const settings = this.#requireSettings();
        const { id, branch = null } = settings;
        const left = await inTime(this.#bindings.workspace(settings).release(id, branch));
        // A workspace that is gone keeps nothing.
        if (!left.ok && left.error.code !== "not_found") unwrap(left);
      },
    });
    this.#turns = new TurnKeeper({
      ctx,
      meta: this.#meta,
      alarms: this.#alarms,
      tenant: (id) => this.#bindings.tenant(id),
      resume: (session, knownTokens) => this.#resume(session, knownTokens),
      busy: () => this.#opened?.restore.stands !== false,
    });
  }

  /**
   * The session, recovered if its process had died: a fork has all of its past, a restore that stood is finished, a
   * turn goes on.
   * @throws LightAgentError `not_found` when it was never created, then nothing is written, or is deleted;
   *   `unavailable` while what must be finished first cannot be
   */
  async enter(): Promise<Opened> {
    // One at a time: two callers of one wake must open it and count it once.
    const entered = this.#entering.then(async () => {
      const { session, restore } = this.#opened ?? (await this.#open());
      if (session.agent.failure) void session.agent.loadSession();
      await restore.finish();
      await this.#turns.recover(session);
    });
    this.#entering = entered.catch(() => undefined);
    await entered;
    if (!this.#opened) throw noSession();
    return this.#opened;
  }

  async #open(): Promise<Opened> {
    const settings = this.#requireSettings();
    await this.#requireStanding();
    migrate(this.#ctx.storage, SESSION_MIGRATIONS);
    await this.#alarms.read();
    const from = this.#copy.origin;
    if (from) await this.#complete(settings, from);
    // It may have been deleted meanwhile. From here on nothing waits.
    if (this.#removal.isCondemned) throw noSession();
    this.#opened = this.#assemble(settings);
    const { session, sockets, restore } = this.#opened;
    this.#turns.adopt(session);
    if (restore.stands) this.#turns.heartbeat(session);
    sockets.adopt(this.#connections());
    return this.#opened;
  }

  #requireSettings(): SessionSettings {
    const settings = hasSchema(this.#ctx.storage.sql)
      ? this.#meta.get<SessionSettings>(META.settings)
      : undefined;
    if (!settings) throw noSession();
    return settings;
  }

  async #requireStanding(): Promise<void> {
    if (!this.#removal.isCondemned) return;
    await this.#removal.arm();
    throw noSession();
  }

  /** A fork that can never be complete is deleted. */
  async #complete(settings: SessionSettings, from: ForkOrigin): Promise<void> {
    this.#alarms.wakeBy(Date.now() + ALARM_AGAIN_MS);
    try {
      const { tenant } = settings;
      const parent = this.#bindings.session(tenant, from.session);
      await this.#copy.complete(settings, from, parent, this.#bindings.workspace(settings));
    } catch (caught) {
      if (toErrorBody(caught).code !== "unavailable") this.#removal.condemn();
      throw caught;
    }
  }

  #assemble(settings: SessionSettings): Opened {
    const { tenant } = settings;
    const session: LiveSession = new LiveSession({
      settings,
      storage: this.#ctx.storage,
      environment: this.#env,
      workspace: () => this.#bindings.workspace(settings),
      artifacts: (owner) => this.#bindings.artifacts(tenant, owner),
      beforeTurn: async (turn) => {
        const begun = await this.#bindings.tenant(tenant).beginTurn(leaseOf(session, turn, false));
        // Unheard, the turn goes on, and what was left for the one before says nothing of it.
        const { leave = NO_LEAVE } = session;
        this.#begin(session, begun.ok ? begun.value : { ...leave, tokensLeft: null });
      },
      leave: this.#meta.get<TurnLeave>(META.leave),
      library: this.#bindings.library(tenant),
      memories: (owner) => this.#bindings.memories(settings, owner),
      store: (changed) => {
        this.#meta.set(META.settings, changed);
        session.settings = changed;
      },
      pace: (perMinute) => this.#bindings.pace(tenant, perMinute),
      park: (retryAt) => this.#turns.park(session, retryAt),
      holdBack: () => {
        if (!this.#opened) throw noSession();
        // A turn that nobody drives is counted anew before anything else may set it going.
        return this.#opened.restore.stands || session.agent.isAbandoned ? this.enter() : null;
      },
      committed: (events) => this.#turns.committed(session, events),
    });
    const sockets = new Sockets({
      log: session.store.log,
      broadcast: session.broadcast,
      limits: session.limits,
      clock: Date.now,
      head: () => session.agent.fold.head,
      state: () => session.state(),
      command: (frame, caller) => runCommand(frame, caller, this),
      stands: (caller) => this.stands(caller),
    });
    const restore = new SessionRestore(session, this.#meta, () => this.#bindings.workspace(settings));
    return { session, sockets, restore };
  }

  /** Whether the key of a caller still stands. @throws when nobody can tell */
  async stands({ tenant, keyId }: Caller): Promise<boolean> {
    const standing = await this.#bindings.tenant(tenant).keyStanding(keyId);
    if (!standing.ok && standing.error.code === "unauthorized") return false;
    unwrap(standing);
    return true;
  }

  async create(input: CreateSession, from?: ForkOrigin): Promise<SessionState> {
    const { storage } = this.#ctx;
    await this.#alarms.read();
    const known = hasSchema(storage.sql) ? this.#meta.get<SessionSettings>(META.settings) : undefined;
    if (!known) {
      const at = Date.now();
      const settings: SessionSettings = {
        ...input,
        logId: crypto.randomUUID(),
        createdAt: at,
        updatedAt: at,
      };
      migrate(storage, SESSION_MIGRATIONS);
      this.#meta.set(META.settings, settings);
      if (from) {
        this.#meta.set(META.forking, from);
        this.#alarms.wakeBy(at + ALARM_AGAIN_MS);
      }
    } else if (this.#removal.isCondemned || !sameRequest(known, input)) {
      throw new LightAgentError("id_taken", "A session with this id exists or existed.");
    }
    const { session } = await this.enter();
    // The tenant's index knows of a fork's past by this.
    if (from) this.#ctx.waitUntil(this.#turns.report(session));
    return session.state();
  }

  async update(patch: UpdateSession): Promise<SessionState> {
    const { session } = await this.enter();
    const settings = session.changed(patch, Date.now());
    this.#meta.set(META.settings, settings);
    session.settings = settings;
    return session.state();
  }

  async prompt(body: PromptBody, by: Principal): Promise<PromptReceipt> {
    const { session } = await this.enter();
    const tenant = this.#bindings.tenant(session.settings.tenant);
    return session.prompt(body, by, async (turn) => {
      this.#begin(session, unwrap(await tenant.beginTurn(leaseOf(session, turn, true))));
    });
  }

  /** A turn that goes on counts as running, and hears what the tenant says by now. */
  async #resume(session: LiveSession, knownTokens: number): Promise<void> {
    const { tenant } = session.settings;
    const lease = { ...leaseOf(session, session.agent.fold.turn, false), resumes: true };
    const begun = await this.#bindings
      .tenant(tenant)
      .beginTurn(lease)
      .catch(() => null);
    // Unheard, it goes on with what it knew.
    if (!begun?.ok) return;
    // What is left for the turn counts from its beginning; the tenant has taken off what it knows of the turn already.
    const { tokensLeft } = begun.value;
    this.#begin(session, {
      ...begun.value,
      tokensLeft: tokensLeft === null ? null : tokensLeft + knownTokens,
    });
  }

  /** Kept for the processes that may have to go on with the turn. */
  #begin(session: LiveSession, { agent, ...leave }: TurnBeginning): void {
    if (JSON.stringify(session.leave ?? NO_LEAVE) !== JSON.stringify(leave))
      this.#meta.set(META.leave, leave);
    session.leave = leave;
    // A turn that has begun meanwhile keeps its version; the next one asks again.
    if (!agent || session.agent.fold.open) return;
    const settings = session.withAgent(agent);
    this.#meta.set(META.settings, settings);
    session.redefine(settings);
  }

  async restore(body: RestoreBody, by: Principal): Promise<DurableEvent<"checkpoint_restore">> {
    let { session, restore } = await this.enter();
    // Of several who come at once each begins only when the one before is through.
    while (restore.stands) ({ session, restore } = await this.enter());
    const seq = restore.begin(body, by);
    this.#turns.heartbeat(session);
    await this.enter();
    return restore.outcome(seq);
  }

  async compact({ instructions }: CompactBody): Promise<Compacted> {
    const { session, restore } = await this.enter();
    // It is a model call, so the tenant has its say as for a turn.
    const lease = leaseOf(session, session.agent.fold.turn, true);
    const tenant = this.#bindings.tenant(session.settings.tenant);
    this.#begin(session, unwrap(await tenant.beginTurn(lease)));
    try {
      return await session.agent.compact(instructions, () => restore.stands);
    } finally {
      this.#ctx.waitUntil(this.#turns.report(session));
    }
  }

  async forkPoint(fork: string, atSeq: number | null): Promise<ForkPoint> {
    const { session } = await this.enter();
    return this.#forks.begin(session, this.#bindings.workspace(session.settings), fork, atSeq);
  }

  /** For a fork: also a session that is deleted has a past, as long as it knows the fork. */
  past(fork: string, after: PastPoint, through: PastPoint): PastPage {
    this.#requireSettings();
    if (this.#removal.isCondemned && !this.#forks.knows(fork)) throw noSession();
    return this.#past.page(after, through);
  }

  copying(): boolean {
    this.#requireSettings();
    return !this.#removal.isCondemned && this.#copy.origin !== undefined;
  }

  closed(connection: Connection): void {
    this.#opened?.sockets.close(connection);
  }

  /** Condemns the session at once; what it stored goes with the alarm, also when that dies half-way. */
  async remove(): Promise<null> {
    this.#requireSettings();
    await this.#alarms.read();
    await this.#requireStanding();
    this.#removal.condemn();
    const opened = this.#opened;
    this.#opened = null;
    opened?.sockets.closeAll(CLOSE.deleted, "deleted");
    // Those of an earlier process.
    for (const connection of this.#connections()) connection.close(CLOSE.deleted, "deleted");
    await opened?.session.end();
    return null;
  }

  async alarm(): Promise<void> {
    this.#alarms.fired();
    try {
      if (!hasSchema(this.#ctx.storage.sql)) return;
      if (this.#removal.isCondemned) {
        // What entered before it was deleted comes to its end first.
        await this.#entering;
        return await this.#removal.step();
      }
      const { session } = await this.enter();
      this.#turns.arm(session);
      if (session.agent.fold.open) return this.#turns.renewLease(session);
      this.#turns.heartbeat(session);
      await this.#turns.report(session);
    } catch (caught) {
      // What kept it from opening may pass, and nobody else may come.
      if (toErrorBody(caught).code !== "not_found") this.#alarms.wakeBy(Date.now() + ALARM_AGAIN_MS);
      throw caught;
    }
  }
}

/** What a session asks the tenant for as a turn begins. */
function leaseOf({ settings }: LiveSession, turn: number, admit: boolean): TurnLease {
  const { id: session, agent, agentVersion: version, followAgent = false } = settings;
  return { session, turn, admit, ...(followAgent && { follows: { agent, version } }) };
}

function noSession(): LightAgentError {
  return new LightAgentError("not_found", "There is no such session.");
}
