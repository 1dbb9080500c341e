import { Server } from "partyserver";
import type { Connection, ConnectionContext } from "partyserver";
import { traceOf } from "../runtime/protocol/error-trace.ts";
import { LightAgentError, toErrorBody } from "../runtime/protocol/errors.ts";
import { DEFAULT_LIMITS } from "../runtime/protocol/limits.ts";
import { CLOSE } from "../runtime/protocol/websocket.ts";
import type { Compacted } from "../runtime/agent/compaction-desk.ts";
import type { OpenRequest } from "../runtime/agent/request-desk.ts";
import type {
  AnswerBody,
  CompactBody,
  DecisionBody,
  InterruptBody,
  InterruptReceipt,
  PromptBody,
  PromptReceipt,
  RestoreBody,
  SessionState,
} from "../runtime/protocol/frames.ts";
import type { ModelMessage } from "../runtime/protocol/model-messages.ts";
import type { DurableEvent } from "../runtime/protocol/durable-events.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { answer } from "../runtime/protocol/answer.ts";
import type { Answer } from "../runtime/protocol/answer.ts";
import { listCheckpoints } from "./checkpoints.ts";
import type { Checkpoint } from "./checkpoints.ts";
import { errorResponse } from "./error-response.ts";
import type {
  Caller,
  CreateSession,
  EventsPage,
  ForkOrigin,
  ForkPoint,
  QueuedPrompt,
  SessionApi,
  SessionKin,
  SkillsReport,
  UpdateSession,
} from "./session-api.ts";
import type { PastPage, PastPoint } from "./session-past.ts";
import { traceOfTurn } from "./session-trace.ts";
import type { TurnTrace } from "./session-trace.ts";
import type { Page, PageQuery } from "./tenant-management-api.ts";
import { SessionKeeper } from "./session-keeper.ts";
import type { SessionEnvironment } from "./session-keeper.ts";
import { frameIdOf, readFrame } from "./read-frame.ts";
import { tryToSend } from "./try-to-send.ts";
import { callerOf, cursorOf, streamQueryOf } from "./session-requests.ts";

/**
 * The Session object: one per session, named `<tenant>:<session>`. It holds no behaviour: each callback enters through
 * the keeper, which opens the session and goes on with what the log says is unfinished, and then makes one call.
 */
export class Session extends Server<Env> implements SessionApi, SessionKin {
  static override options = { hibernate: true };
  readonly #keeper: SessionKeeper;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    // The generated type of a stub gives up on the answers of its methods; session-keeper.ts says what they are.
    const environment = env as unknown as SessionEnvironment;
    this.#keeper = new SessionKeeper(ctx, environment, () => this.getConnections());
  }

  create(input: CreateSession, from?: ForkOrigin): Promise<Answer<SessionState>> {
    return answer(() => this.#keeper.create(input, from), report);
  }

  state(): Promise<Answer<SessionState>> {
    return answer(async () => (await this.#keeper.enter()).session.state(), report);
  }

  update(patch: UpdateSession): Promise<Answer<SessionState>> {
    return answer(() => this.#keeper.update(patch), report);
  }

  remove(_by: Principal): Promise<Answer<null>> {
    return answer(() => this.#keeper.remove(), report);
  }

  prompt(body: PromptBody, by: Principal): Promise<Answer<PromptReceipt>> {
    return answer(() => this.#keeper.prompt(body, by), report);
  }

  interrupt(body: InterruptBody, by: Principal): Promise<Answer<InterruptReceipt>> {
    return answer(async () => (await this.#keeper.enter()).session.interrupt(body, by), report);
  }

  waiting(): Promise<Answer<readonly QueuedPrompt[]>> {
    return answer(async () => (await this.#keeper.enter()).session.queue(), report);
  }

  unqueue(promptId: string, by: Principal): Promise<Answer<null>> {
    return answer(async () => {
      await (await this.#keeper.enter()).session.agent.withdraw(promptId, by);
      return null;
    }, report);
  }

  requests(): Promise<Answer<readonly OpenRequest[]>> {
    return answer(async () => (await this.#keeper.enter()).session.agent.requests(), report);
  }

  decide(approvalId: string, body: DecisionBody, by: Principal): Promise<Answer<null>> {
    return answer(async () => (await this.#keeper.enter()).session.decide(approvalId, body, by), report);
  }

  answerQuestion(inputId: string, body: AnswerBody, by: Principal): Promise<Answer<null>> {
    return answer(async () => (await this.#keeper.enter()).session.answer(inputId, body, by), report);
  }

  events(query: { after: number; limit: number; types?: readonly string[] }): Promise<Answer<EventsPage>> {
    return answer(async () => (await this.#keeper.enter()).session.events(query), report);
  }

  messages(): Promise<Answer<readonly ModelMessage[]>> {
    return answer(async () => (await this.#keeper.enter()).session.messages(), report);
  }

  skills(query: string | null): Promise<Answer<SkillsReport>> {
    return answer(async () => (await this.#keeper.enter()).session.skillsReport(query), report);
  }

  turnTrace(turn: number | null): Promise<Answer<TurnTrace>> {
    return answer(async () => {
      const { settings, store } = (await this.#keeper.enter()).session;
      return traceOfTurn(settings, store, turn);
    }, report);
  }

  checkpoints(page: PageQuery): Promise<Answer<Page<Checkpoint>>> {
    return answer(async () => {
      const { log, turns } = (await this.#keeper.enter()).session.store;
      return listCheckpoints(log, turns, page);
    }, report);
  }

  restore(body: RestoreBody, by: Principal): Promise<Answer<DurableEvent<"checkpoint_restore">>> {
    return answer(() => this.#keeper.restore(body, by), report);
  }

  compact(body: CompactBody, _by: Principal): Promise<Answer<Compacted>> {
    return answer(() => this.#keeper.compact(body), report);
  }

  forkPoint(fork: string, atSeq: number | null): Promise<Answer<ForkPoint>> {
    return answer(() => this.#keeper.forkPoint(fork, atSeq), report);
  }

  past(fork: string, after: PastPoint, through: PastPoint): Promise<Answer<PastPage>> {
    return answer(() => this.#keeper.past(fork, after, through), report);
  }

  copying(): Promise<Answer<boolean>> {
    return answer(() => this.#keeper.copying(), report);
  }

  /**
   * Streams and sockets. A session that does not exist is answered before partyserver sees the request, since
   * partyserver stores the object's name at its first request.
   */
  override async fetch(request: Request): Promise<Response> {
    try {
      const { session, sockets } = await this.#keeper.enter();
      const url = new URL(request.url);
      if (url.pathname === "/ws") {
        session.checkCursor(cursorOf(url));
        sockets.makeRoom();
        return await super.fetch(request);
      }
      if (url.pathname === "/stream") {
        const query = streamQueryOf(url);
        session.checkCursor(query.after);
        const type = query.format === "sse" ? "text/event-stream" : "application/x-ndjson";
        const headers = { "content-type": `${type}; charset=utf-8`, "cache-control": "no-store" };
        const caller = callerOf(request);
        const stands = (asked: Caller): Promise<boolean> => this.#keeper.stands(asked);
        return new Response(session.stream(query, { caller, stands }), { headers });
      }
      const [, artifact] = /^\/artifacts\/([A-Za-z0-9_-]+)$/.exec(url.pathname) ?? [];
      if (artifact) return await session.artifact(artifact, request.headers.get("range"));
      throw new LightAgentError("not_found", "No such resource.");
    } catch (caught) {
      report(caught);
      return errorResponse(toErrorBody(caught));
    }
  }

  override async onConnect(connection: Connection, { request }: ConnectionContext): Promise<void> {
    const { sockets } = await this.#keeper.enter();
    sockets.open(connection, callerOf(request), cursorOf(new URL(request.url)));
  }

  override async onMessage(
    connection: Connection,
    message: string | ArrayBuffer | ArrayBufferView,
  ): Promise<void> {
    try {
      const { sockets } = await this.#keeper.enter();
      await sockets.message(connection, message);
    } catch (caught) {
      report(caught);
      const error = toErrorBody(caught);
      if (error.code === "not_found") return connection.close(CLOSE.deleted, "not found");
      const id = frameIdOf(readFrame(message, DEFAULT_LIMITS.frameBytes));
      tryToSend(connection, JSON.stringify({ type: "nack", id, error }));
    }
  }

  override onClose(connection: Connection): void {
    this.#keeper.closed(connection);
  }

  override onError(connection: Connection): void {
    this.#keeper.closed(connection);
  }

  /** Adopts what is unfinished and returns: it never awaits a turn and never throws. */
  override async alarm(): Promise<void> {
    try {
      await this.#keeper.alarm();
    } catch (caught) {
      report(caught);
    }
  }
}

/** Unexpected errors go to the deployment's logs, without the request's content. */
function report(caught: unknown): void {
  if (toErrorBody(caught).code === "internal") console.error("Session object:", traceOf(caught));
}
