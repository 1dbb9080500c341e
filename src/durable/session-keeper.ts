import type { Connection } from "partyserver";
import type { ModelEnvironment } from "../deployment.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { CLOSE } from "../runtime/protocol/frames.ts";
import type { PromptBody, PromptReceipt, SessionState } from "../runtime/protocol/frames.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { Alarms } from "./alarms.ts";
import { unwrap } from "./answer.ts";
import { LiveSession } from "./live-session.ts";
import { MetaStore } from "./meta-store.ts";
import { hasSchema, migrate } from "./migrations.ts";
import { ObjectStorage } from "./object-storage.ts";
import type { Caller, CreateSession, UpdateSession } from "./session-api.ts";
import { SESSION_MIGRATIONS } from "./session-migrations.ts";
import { META } from "./session-settings.ts";
import type { Parked, Recovery, SessionSettings } from "./session-settings.ts";
import { Sockets } from "./sockets.ts";
import type { CommandFrame } from "./sockets.ts";
import type { TenantTurns } from "./tenant-api.ts";
import type { WorkspaceApi } from "./workspace-api.ts";
import { createWorkspaceSource } from "./workspace-client.ts";

/** What the session finds in its environment: the platform's types of stubs lose the answers' types. */
export interface SessionEnvironment extends ModelEnvironment {
  readonly TENANT: { getByName(name: string): TenantTurns };
  readonly WORKSPACE: { getByName(name: string): WorkspaceApi };
  readonly FILES: R2Bucket;
}

/** A session that is open in memory. */
export interface Opened {
  readonly session: LiveSession;
  readonly sockets: Sockets;
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
  #opened: Opened | null = null;
  #entering: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: SessionEnvironment, connections: () => Iterable<Connection>) {
    this.#ctx = ctx;
    this.#env = env;
    this.#connections = connections;
    this.#meta = new MetaStore(ctx.storage.sql);
    this.#alarms = new Alarms(ctx.storage);
  }

  /**
   * The session, recovered if its process had died.
   * @throws LightAgentError `not_found` when it was never created or is deleted; then nothing is written
   */
  async enter(): Promise<Opened> {
    // One at a time: two callers of one wake must open it and count it once.
    const entered = this.#entering.then(async () => {
      if (!this.#opened) await this.#open();
      await this.#recover();
    });
    this.#entering = entered.catch(() => undefined);
    await entered;
    if (!this.#opened) throw new LightAgentError("not_found", "There is no such session.");
    return this.#opened;
  }

  async #open(): Promise<void> {
    const settings = hasSchema(this.#ctx.storage.sql)
      ? this.#meta.get<SessionSettings>(META.settings)
      : undefined;
    if (!settings || this.#meta.get(META.condemned)) {
      throw new LightAgentError("not_found", "There is no such session.");
    }
    migrate(this.#ctx.storage, SESSION_MIGRATIONS);
    await this.#alarms.read();
    this.#opened = this.#assemble(settings);
    const parked = this.#meta.get<Parked>(META.parked);
    const recovery = this.#meta.get<Recovery>(META.recovery);
    const { agent } = this.#opened.session;
    if (recovery && recovery.turn === agent.fold.open?.turn) agent.countFrom(recovery.wakes);
    if (parked?.turn === agent.fold.open?.turn && parked) agent.holdUntil(parked.retryAt);
    this.#opened.sockets.adopt(this.#connections());
  }

  #assemble(settings: SessionSettings): Opened {
    const { tenant, id, workspace } = settings;
    const session: LiveSession = new LiveSession({
      settings,
      storage: this.#ctx.storage,
      environment: this.#env,
      workspace: createWorkspaceSource(this.#env.WORKSPACE.getByName(`${tenant}:${workspace}`)),
      artifacts: new ObjectStorage(this.#env.FILES, `t/${tenant}/s/${id}/a/`),
      beforeTurn: async (turn) =>
        void (await this.#tenant(tenant).beginTurn({ session: id, turn, admit: false })),
      park: (turn, retryAt) => {
        this.#meta.set(META.parked, { turn, retryAt } satisfies Parked);
        this.#alarms.wakeBy(retryAt);
      },
      committed: (events) => this.#committed(session, events),
    });
    const sockets = new Sockets({
      log: session.store.log,
      broadcast: session.broadcast,
      limits: session.limits,
      clock: Date.now,
      head: () => session.agent.fold.head,
      state: () => session.state(),
      command: (frame, caller) => this.#command(frame, caller),
      stands: async (caller) => (await this.#tenant(caller.tenant).keyStanding(caller.keyId)).ok,
    });
    return { session, sockets };
  }

  #tenant(tenant: string): TenantTurns {
    return this.#env.TENANT.getByName(tenant);
  }

  /** A turn without an owner goes on here; the wake is counted durably first, so that a crash loop comes to an end. */
  async #recover(): Promise<void> {
    const agent = this.#opened?.session.agent;
    if (!agent) return;
    if (agent.failure) void agent.loadSession();
    if (!agent.isAbandoned) return;
    const { open } = agent.fold;
    if (!open) return agent.resume();
    const before = this.#meta.get<Recovery>(META.recovery);
    const stuck = before?.turn === open.turn && before.progressSeq === open.progressSeq;
    // A turn that waited for its model's provider did not crash.
    const waited = this.#meta.get<Parked>(META.parked)?.turn === open.turn;
    // Within a turn `wakes` only grows: it numbers attempts, and tells a workspace which of two processes is the later.
    const wakes = before?.turn === open.turn ? before.wakes : 0;
    const stalls = stuck ? before.stalls : 0;
    const { turn, progressSeq } = open;
    const recovery: Recovery = { turn, progressSeq, wakes: wakes + 1, stalls: stalls + (waited ? 0 : 1) };
    this.#meta.set(META.recovery, recovery);
    if (waited) this.#meta.delete(META.parked);
    this.#heartbeat();
    await this.#ctx.storage.sync();
    agent.resume(recovery.wakes, recovery.stalls);
  }

  #heartbeat(): void {
    const session = this.#opened?.session;
    if (session) this.#alarms.wakeBy(Date.now() + session.limits.heartbeatMs);
  }

  #committed(session: LiveSession, events: readonly DurableEvent[]): void {
    if (events.some(({ type }) => type === "input")) this.#heartbeat();
    if (events.some(({ type }) => type === "agent_stop")) this.#ctx.waitUntil(this.#reportTurn(session));
  }

  /** Tells the tenant of the turn's end. The alarm stays until it knows, and tells it again. */
  async #reportTurn(session: LiveSession): Promise<void> {
    try {
      const { tenant } = session.settings;
      const told = await this.#tenant(tenant).endTurn(session.report());
      if (told.ok && session.agent.getState().status === "idle") this.#alarms.clear();
    } catch {
      // The tenant does not answer: the alarm that is still due will try again.
    }
  }

  async create(input: CreateSession): Promise<SessionState> {
    const { storage } = this.#ctx;
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
    } else if (this.#meta.get(META.condemned) || !sameRequest(known, input)) {
      throw new LightAgentError("id_taken", "A session with this id exists or existed.");
    }
    return (await this.enter()).session.state();
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
    const { tenant, id } = session.settings;
    return session.prompt(body, by, async (turn) => {
      unwrap(await this.#tenant(tenant).beginTurn({ session: id, turn, admit: true }));
    });
  }

  async #command(frame: CommandFrame, caller: Caller): Promise<unknown> {
    const needed = frame.type === "approve" || frame.type === "answer" ? "decide" : "prompt";
    if (!caller.scopes.includes(needed)) {
      throw new LightAgentError("forbidden", `The credential has no scope \`${needed}\`.`);
    }
    const { session } = await this.enter();
    const by = caller.principal;
    switch (frame.type) {
      case "prompt": {
        const { id: _id, type: _type, ...body } = frame;
        return this.prompt(body, by);
      }
      case "interrupt": {
        const { id: _id, type: _type, ...body } = frame;
        return session.interrupt(body, by);
      }
      case "approve": {
        const { id: _id, type: _type, approvalId, ...body } = frame;
        return session.decide(approvalId, body, by);
      }
      case "answer": {
        const { id: _id, type: _type, inputId, ...body } = frame;
        return session.answer(inputId, body, by);
      }
      case "unqueue":
        await session.agent.withdraw(frame.promptId, by);
        return null;
    }
  }

  closed(connection: Connection): void {
    this.#opened?.sockets.close(connection);
  }

  /** Condemns the session at once; what it stored goes with the alarm, also when that dies half-way. */
  async remove(): Promise<null> {
    const { session, sockets } = await this.enter();
    this.#meta.set(META.condemned, true);
    this.#alarms.wakeBy(Date.now());
    this.#opened = null;
    sockets.closeAll(CLOSE.deleted, "deleted");
    await session.agent.close();
    return null;
  }

  async alarm(): Promise<void> {
    this.#alarms.fired();
    if (!hasSchema(this.#ctx.storage.sql)) return;
    if (this.#meta.get(META.condemned)) return this.#erase();
    const { session } = await this.enter();
    const { status } = session.agent.getState();
    const parked = this.#meta.get<Parked>(META.parked);
    const expiry = session.nextExpiry();
    if (status === "waiting" && parked) this.#alarms.wakeBy(parked.retryAt);
    else if (status === "waiting" && Number.isFinite(expiry)) this.#alarms.wakeBy(expiry);
    else if (session.agent.fold.open) this.#heartbeat();
    else {
      this.#heartbeat();
      await this.#reportTurn(session);
    }
  }

  async #erase(): Promise<void> {
    const settings = this.#meta.get<SessionSettings>(META.settings);
    // Before the work, so that an eviction in the middle of it is followed by another try.
    this.#alarms.wakeBy(Date.now() + 60_000);
    if (settings) {
      const objects = new ObjectStorage(this.#env.FILES, `t/${settings.tenant}/s/${settings.id}/`);
      while ((await objects.removeSome()) > 0);
    }
    await this.#ctx.storage.deleteAll();
    this.#alarms.clear();
  }
}

/** The tenant's index has compared the whole request; what was changed since (a title) does not matter here. */
function sameRequest(known: SessionSettings, input: CreateSession): boolean {
  return known.agent === input.agent && known.workspace === input.workspace;
}
