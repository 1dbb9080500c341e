import { deployment } from "../deployment.ts";
import { acceptPrompt } from "../runtime/agent/accept-prompt.ts";
import { Agent } from "../runtime/agent/agent.ts";
import type { Batch } from "../runtime/agent/session-log.ts";
import type { ModelPace } from "../runtime/model/model-call.ts";
import { previewOf } from "../runtime/protocol/content.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { expiryOf } from "../runtime/loop/next-action.ts";
import type {
  AnswerBody,
  DecisionBody,
  InterruptBody,
  InterruptReceipt,
  PromptBody,
  PromptReceipt,
  SessionState,
} from "../runtime/protocol/frames.ts";
import { DEFAULT_LIMITS, withLimits } from "../runtime/protocol/limits.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import { toModelMessages } from "../runtime/protocol/model-messages.ts";
import type { ModelMessage } from "../runtime/protocol/model-messages.ts";
import { SYSTEM } from "../runtime/protocol/principal.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { systemTimers } from "../runtime/protocol/time.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import type { WorkspaceSource } from "../runtime/workspace/workspace-source.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import { Artifacts } from "./artifacts.ts";
import { auditOf } from "./session-audit.ts";
import { Broadcast } from "./broadcast.ts";
import { definedAgent } from "./defined-agent.ts";
import type { EventStreamOptions, EventStreamQuery } from "./event-stream.ts";
import { EventStream } from "./event-stream.ts";
import { inTime } from "./in-time.ts";
import type { LiveSessionOptions } from "./live-session-options.ts";
import type { EventsPage, QueuedPrompt, SkillsReport, UpdateSession } from "./session-api.ts";
import type { PastPoint } from "./session-past.ts";
import { SessionMemory } from "./session-memory.ts";
import { SessionModels } from "./session-models.ts";
import type { SessionPoint } from "./session-point.ts";
import type { SessionSettings } from "./session-settings.ts";
import { SessionSkills } from "./session-skills.ts";
import { SessionStore } from "./session-store.ts";
import type { PinnedAgent, TurnLeave, TurnReport } from "./tenant-api.ts";
import type { WorkspaceApi } from "./workspace-api.ts";
import { createWorkspaceSource } from "./workspace-client.ts";

/** A session in memory: its agent, its log, and those who follow it. Made anew from storage whenever it is needed. */
export class LiveSession {
  readonly agent: Agent;
  readonly limits: Limits;
  readonly store: SessionStore;
  readonly models: SessionModels;
  /** Of the agent's version at hand. */
  skills: SessionSkills;
  readonly memory: SessionMemory;
  readonly broadcast: Broadcast;
  readonly #options: LiveSessionOptions;
  readonly #artifacts: Artifacts;
  #settings: SessionSettings;
  #leave: TurnLeave | undefined;
  #versionKnown: Promise<void> | null = null;
  readonly #deleted = new AbortController();

  constructor(options: LiveSessionOptions) {
    const { settings, storage } = options;
    this.#options = options;
    this.#settings = settings;
    this.limits = withLimits({ ...deployment.limits, ...settings.limits });
    this.store = new SessionStore(settings.id, storage, this.limits.logRowBytes);
    this.#leave = options.leave;
    this.models = new SessionModels({
      ...options,
      tenant: settings.tenant,
      definition: settings.definition,
      limits: this.limits,
    });
    this.broadcast = new Broadcast(systemTimers, this.limits.deltaWindowMs);
    this.#artifacts = this.#artifactsOf(settings.id);
    this.skills = this.#skillsOf(settings);
    this.memory = new SessionMemory({
      offered: () => this.#settings.definition.memory ?? false,
      limits: this.limits,
      memories: options.memories,
      turn: () => {
        const { open, head } = this.agent.fold;
        return { by: open?.by ?? SYSTEM, origin: { session: settings.id, seq: open?.firstSeq ?? head } };
      },
    });
    this.agent = this.#makeAgent();
    this.agent.subscribe((batch) => this.#follow(batch));
    // SQLite answers at once, so the state is here when the constructor returns.
    void this.agent.loadSession();
  }

  #skillsOf({ definition, skills, branch = MAIN_BRANCH }: SessionSettings): SessionSkills {
    const { library, store } = this.#options;
    return new SessionSkills({
      definition,
      limits: this.limits,
      library: skills,
      texts: library,
      workspace: () => this.#workspace().open({ branch, writer: { by: SYSTEM } }),
      pinned: () => this.#settings.workspaceSkills,
      pin: (workspaceSkills) => store({ ...this.#settings, workspaceSkills }),
    });
  }

  /** The settings with another version of the agent; its skills are those that the library has now. */
  withAgent({ version, definition, skills }: PinnedAgent): SessionSettings {
    const { skills: _before, ...settings } = this.#settings;
    return { ...settings, agentVersion: version, definition, ...(skills && { skills }) };
  }

  /** The agent has another version, for the turns to come; the caller has stored the settings. No turn may be open. */
  redefine(settings: SessionSettings): void {
    const { definition } = settings;
    this.#settings = settings;
    this.skills = this.#skillsOf(settings);
    this.models.redefine(definition);
    this.agent.redefine(definedAgent(definition, this));
  }

  #makeAgent(): Agent {
    const { settings, beforeTurn, park } = this.#options;
    const { branch = MAIN_BRANCH } = settings;
    return new Agent({
      ...definedAgent(settings.definition, this),
      session: this.store,
      model: (asked) => this.models.provider(asked),
      workspace: { open: (given) => this.#workspace().open({ branch, ...given }) },
      hooks: deployment.hooks,
      middleware: deployment.middleware,
      limits: this.limits,
      budget: () => {
        const { definition, budget } = this.#settings;
        const tokensLeft = this.#leave?.tokensLeft ?? null;
        return {
          ...definition.budget,
          ...budget,
          ...(tokensLeft === null ? {} : { tenantTokens: tokensLeft }),
        };
      },
      ...this.#pace(),
      beforeTurn: async () => beforeTurn(this.agent.fold.turn + 1),
      recall: (prompt) => this.memory.recall(prompt),
      park,
      beforeTools: async () => this.knowVersion(),
      keepResult: async (result, callId) => this.#artifacts.keep(result, callId),
      readArtifact: async (artifact, seq, range) => this.#artifactsAt(seq).read(artifact, range),
    });
  }

  #workspace(): WorkspaceSource {
    return createWorkspaceSource(this.#options.workspace());
  }

  /** At the default nobody counts, so that a call waits for no other object. */
  #pace(): { pace?: ModelPace } {
    const { modelCallsPerMinute } = this.limits;
    const counts = modelCallsPerMinute < DEFAULT_LIMITS.modelCallsPerMinute;
    return counts ? { pace: this.#options.pace(modelCallsPerMinute) } : {};
  }

  #follow(batch: Batch): void {
    this.broadcast.publish(batch);
    if (batch.events.some(({ type }) => type === "input")) {
      // The workspace's version is asked for beside the first model call; no tool begins before it is known.
      this.#versionKnown = this.#askVersion((api, branch) => api.version({ branch }));
    }
    if (batch.events.length > 0) this.#options.committed(batch.events);
  }

  /** Resolves when the workspace's version is known from before the open turn: what that has changed does not count. */
  knowVersion(): Promise<void> {
    const { open } = this.agent.fold;
    const begin = { turn: (open?.turn ?? 1) - 1, seq: (open?.firstSeq ?? 1) - 1 };
    this.#versionKnown ??= this.#askVersion((api, branch) => api.versionAt(branch, this.point(begin)));
    return this.#versionKnown;
  }

  async #askVersion(ask: (api: WorkspaceApi, branch: string) => Promise<Answer<number>>): Promise<void> {
    const { turn } = this.agent.fold;
    try {
      const version = unwrap(
        await inTime(ask(this.#options.workspace(), this.#settings.branch ?? MAIN_BRANCH)),
      );
      if (this.agent.fold.open?.turn === turn) this.store.workspaceVersion = version;
    } catch {
      // Without the version the turn has no checkpoint of its files; its tools say themselves what is wrong.
    }
  }

  /** A point between two turns, as a workspace needs to know it. */
  point({ turn, seq }: PastPoint): SessionPoint {
    const { id, origins = [] } = this.#settings;
    const sessions = [id, ...origins.map(({ session }) => session)];
    return { sessions, turn, seq, version: this.store.versionAfter(turn) };
  }

  /** What the tenant said when the last turn began. */
  get leave(): TurnLeave | undefined {
    return this.#leave;
  }

  set leave(leave: TurnLeave) {
    this.#leave = leave;
    this.models.learn(leave);
  }

  get settings(): SessionSettings {
    return this.#settings;
  }

  /** The settings after a change; the caller has stored them. */
  set settings(settings: SessionSettings) {
    this.#settings = settings;
  }

  state(): SessionState {
    const { id, agent, agentVersion, followAgent, workspace, branch, title, metadata, logId } =
      this.#settings;
    const { createdAt, updatedAt } = this.#settings;
    const { status, turn, step, head, usage, currentWindowTokens, contextWindow, queuedPrompts } =
      this.agent.getState();
    const calls = this.agent.fold.open?.calls ?? [];
    return {
      id,
      agent,
      agentVersion,
      ...(followAgent && { followAgent }),
      workspace,
      ...(branch === undefined ? {} : { branch }),
      title,
      metadata: { ...metadata },
      status,
      turn,
      step,
      head,
      oldest: Math.min(1, head),
      logId,
      queued: queuedPrompts,
      openRequests: calls.filter(({ approval, question }) => approval?.open || question?.open).length,
      windowTokens: currentWindowTokens,
      contextWindow,
      usage,
      createdAt,
      updatedAt: Math.max(updatedAt, this.agent.fold.at),
    };
  }

  /** The settings with a change. */
  changed(patch: UpdateSession, at: number): SessionSettings {
    return { ...this.#settings, ...patch, updatedAt: at };
  }

  /** `admit` asks the tenant for room when the prompt would open a turn at once. @throws what it refuses */
  async prompt(
    body: PromptBody,
    by: Principal,
    admit: (turn: number) => Promise<void>,
  ): Promise<PromptReceipt> {
    const { agent } = this;
    const prompt = await acceptPrompt(body, by, () => crypto.randomUUID(), this.limits);
    const idle = agent.fold.open === null && agent.waiting.length === 0;
    // A prompt that was accepted before is answered again without asking for room again.
    const opens = idle && !this.store.findPrompt(prompt.promptId);
    // With room may come another version of the agent, which says what it remembers and which models it has.
    const isNew = opens && this.#settings.followAgent === true;
    if (isNew) await admit(agent.fold.turn + 1);
    if (body.model !== undefined) this.models.check(body.model);
    const [memories] = opens
      ? await Promise.all([this.memory.recall(prompt), isNew || admit(agent.fold.turn + 1)])
      : [[]];
    // Asked in the same synchronous block in which the prompt enters, so that nothing comes between.
    const { holdBack } = this.#options;
    for (let held = holdBack(); held !== null; held = holdBack()) await held;
    return agent.submit({ ...prompt, memories });
  }

  async interrupt(body: InterruptBody, by: Principal): Promise<InterruptReceipt> {
    const { turn, reason, clearQueue } = body;
    return this.agent.interrupt({
      by,
      ...(turn === undefined ? {} : { turn }),
      ...(reason === undefined ? {} : { reason }),
      ...(clearQueue === undefined ? {} : { clearQueue }),
    });
  }

  async decide(approvalId: string, body: DecisionBody, by: Principal): Promise<null> {
    const { decision, reason, args, remember } = body;
    const given = {
      decision,
      ...(reason === undefined ? {} : { reason }),
      ...(args === undefined ? {} : { args }),
      ...(remember === undefined ? {} : { remember }),
    };
    await this.agent.decide(approvalId, given, by);
    return null;
  }

  async answer(inputId: string, { text, selected }: AnswerBody, by: Principal): Promise<null> {
    if (text === undefined && selected === undefined) {
      throw new LightAgentError("invalid_request", "An answer has text, selected, or both.");
    }
    const given = {
      ...(text === undefined ? {} : { text }),
      ...(selected === undefined ? {} : { selected }),
    };
    await this.agent.answer(inputId, given, by);
    return null;
  }

  /** When an open approval or question expires, in ms since the epoch; infinite without one. */
  nextExpiry(): number {
    const calls = this.agent.fold.open?.calls ?? [];
    return Math.min(...calls.map((call) => expiryOf(call, this.limits.requestMs)), Number.POSITIVE_INFINITY);
  }

  queue(): QueuedPrompt[] {
    return this.agent.waiting.map(({ promptId, mode, content, by, at }) => {
      return { promptId, mode, preview: previewOf(content), by, at };
    });
  }

  /** @throws LightAgentError `cursor_ahead` */
  checkCursor(after: number): void {
    const { head } = this.agent.fold;
    if (after > head)
      throw new LightAgentError("cursor_ahead", "`after` lies beyond the head.", { after, head });
  }

  events(query: { after: number; limit: number; types?: readonly string[] }): EventsPage {
    const { after, limit } = query;
    this.checkCursor(after);
    const types = query.types ? new Set<string>(query.types) : null;
    const events: DurableEvent[] = [];
    let last = after;
    for (const event of this.store.log.read(after)) {
      if (events.length >= limit) break;
      if (!types || types.has(event.type)) events.push(event);
      last = event.seq;
    }
    const { head } = this.agent.fold;
    return { events, head, next: last < head ? last : null, logId: this.#settings.logId };
  }

  messages(): ModelMessage[] {
    return toModelMessages(this.store.log.read(0));
  }

  /** The skills, all of them or those that fit some words best. */
  async skillsReport(query: string | null): Promise<SkillsReport> {
    const { catalog, problems } = await this.skills.look();
    return { skills: query === null ? catalog.entries : catalog.discover(query), problems };
  }

  /** The session is deleted: what runs is let go of, and its event streams end. */
  async end(): Promise<void> {
    this.#deleted.abort();
    await this.agent.close();
  }

  /** @param stands whether the caller's key does */
  stream(
    query: EventStreamQuery,
    { caller, stands }: Pick<EventStreamOptions, "caller" | "stands">,
  ): ReadableStream<Uint8Array> {
    const { broadcast, limits, store } = this;
    const head = (): number => this.agent.fold.head;
    const options = { log: store.log, broadcast, limits, timers: systemTimers, clock: Date.now, head };
    return new EventStream(query, { ...options, caller, stands, deleted: this.#deleted.signal }).body();
  }

  /** @throws LightAgentError `not_found` for what the log does not name */
  async artifact(ref: string, range: string | null): Promise<Response> {
    for (const event of this.store.log.read(0)) {
      if (event.type === "tool_result" && event.artifact?.ref === ref) {
        return this.#artifactsAt(event.seq).respond(event.artifact, range);
      }
    }
    throw new LightAgentError("not_found", "There is no such artifact.");
  }

  /** A fork's first events are another session's, and so are their artifacts. */
  #artifactsAt(seq: number): Artifacts {
    const { id, origins = [] } = this.#settings;
    const origin = origins.find(({ throughSeq }) => seq <= throughSeq);
    return this.#artifactsOf(origin?.session ?? id);
  }

  #artifactsOf(session: string): Artifacts {
    return new Artifacts(this.#options.artifacts(session), this.limits.inlineStringBytes);
  }

  /**
   * What the tenant is told at a turn's end: absolute totals, so that telling it twice counts once, and what people did
   * after `auditAfter`. What a fork has of another session, they did to that one.
   */
  report(auditAfter: number = this.store.turnBefore()): TurnReport {
    const { id, agent, agentVersion, title, origins = [] } = this.#settings;
    const own = Math.max(auditAfter, origins.at(-1)?.throughSeq ?? 0);
    const { status, turn, head, queuedPrompts } = this.agent.getState();
    return {
      session: id,
      turn,
      continues: status === "idle" && queuedPrompts > 0,
      models: this.models.health.tallies,
      usage: this.store.usage.map((total) => ({ ...total, agent })),
      auditAfter,
      audit: auditOf(id, [...this.store.log.read(own)]),
      index: { title, agentVersion, status, head, updatedAt: this.state().updatedAt },
    };
  }
}
