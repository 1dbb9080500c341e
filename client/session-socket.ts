import { LightAgentError, toErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody, ErrorCode } from "../src/runtime/protocol/errors.ts";
import type { AgentEvent } from "../src/runtime/protocol/events.ts";
import type {
  AnswerBody,
  DecisionBody,
  InterruptBody,
  InterruptReceipt,
  PromptBody,
  PromptReceipt,
  ServerFrame,
  SessionState,
} from "../src/runtime/protocol/frames.ts";
import type { NewId } from "../src/runtime/protocol/ids.ts";
import { EMPTY_VIEW, applyFrame } from "../src/runtime/protocol/session-view.ts";
import type { SessionView } from "../src/runtime/protocol/session-view.ts";
import { systemTimers } from "../src/runtime/protocol/time.ts";
import type { Random, Timers } from "../src/runtime/protocol/time.ts";
import { CLOSE, WEBSOCKET_PROTOCOL } from "../src/runtime/protocol/websocket.ts";
import type { ConnectionState } from "./connection-state.ts";
import { credentialText } from "./credential.ts";
import type { Credential } from "./credential.ts";
import { PendingCommands } from "./pending-commands.ts";
import type { CommandBody } from "./pending-commands.ts";
import { randomId } from "./random-id.ts";
import { retryDelay } from "./retry-delay.ts";
import { SocketConnection } from "./socket-connection.ts";
import type { OpenWebSocket } from "./socket-connection.ts";

export type Frame = ServerFrame | AgentEvent;

export interface SessionSocketOptions {
  /** Where the deployment answers: `https://host`, without a trailing slash. */
  readonly url: string;
  /** An API key or a session token. A function of it can give another one when the last has expired. */
  readonly credential: Credential;
  readonly session: string;
  /**
   * Asks for the session's state over REST. A browser does not say why an opening was refused; this does.
   * @throws LightAgentError
   */
  readonly state: () => Promise<SessionState>;
  /** Called after each frame, when the view has it already. */
  readonly onFrame?: (frame: Frame) => void;
  readonly onConnection?: (state: ConnectionState) => void;
  readonly openWebSocket?: OpenWebSocket;
  readonly timers?: Timers;
  readonly random?: Random;
  readonly newId?: NewId;
}

const UNAUTHORIZED: ErrorBody = {
  code: "unauthorized",
  message: "The credential has expired or was revoked.",
};
/** Close codes after which trying again would change nothing. */
const FINAL_CLOSES: ReadonlyMap<number | null, ErrorBody> = new Map([
  [CLOSE.protocolError, { code: "invalid_frame", message: "The server does not understand this client." }],
  [CLOSE.credential, UNAUTHORIZED],
  [CLOSE.deleted, { code: "not_found", message: "The session has been deleted." }],
]);
/** Answers over REST that say the same of an opening that was refused. */
const FINAL_ANSWERS: ReadonlySet<ErrorCode> = new Set(["unauthorized", "forbidden", "not_found"]);
/** A connection that was live for so long begins the back-off anew. */
const STABLE_MS = 5_000;

/**
 * A session over a WebSocket that outlives its connections: each new one resumes at the cursor, and prompts that had
 * no answer are sent again under the ids that they have, so that each runs once.
 */
export class SessionSocket {
  readonly #options: SessionSocketOptions;
  readonly #timers: Timers;
  readonly #commands = new PendingCommands();
  #view = EMPTY_VIEW;
  /** Whether the view has a beginning. */
  #begun = false;
  #logId: string | null = null;
  #connection: ConnectionState = { status: "idle" };
  #socket: SocketConnection | null = null;
  #isOpen = false;
  /** Tries in a row that did not lead to a stable connection. */
  #failures = 0;
  #cancelTimer: () => void = () => undefined;
  /** The credential of the last try, and the last one that the server did not take. */
  #credential: string | null = null;
  #refused: string | null = null;

  constructor(options: SessionSocketOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  /** All that is held of the session. */
  get view(): SessionView {
    return this.#view;
  }

  get connection(): ConnectionState {
    return this.#connection;
  }

  /**
   * Connects: for the first time, without further waiting after a loss, or again after `close`.
   * @param after the `seq` after which the view begins: 0, or that of an `agent_stop`. Heeded the first time only.
   */
  open(after = 0): void {
    const state = this.#connection;
    const isClosed = state.status === "ended" && state.error === null;
    if (!this.#begun) this.#view = { ...EMPTY_VIEW, head: after };
    this.#begun = true;
    if (state.status === "idle" || state.status === "waiting" || isClosed) this.#connect();
  }

  /** Ends it until it is opened again. What has no answer yet is rejected. */
  close(): void {
    if (this.#connection.status !== "ended") this.#end(null);
  }

  /**
   * Prompts the session; a prompt that cannot be sent now is sent when the connection is back.
   * @throws LightAgentError what the server refuses; `unavailable` when the socket has ended
   */
  async prompt(body: PromptBody): Promise<PromptReceipt> {
    const promptId = body.promptId ?? (this.#options.newId ?? randomId)();
    return (await this.#command({ type: "prompt", ...body, promptId }, true)) as PromptReceipt;
  }

  /**
   * Stops the running turn. One that names its turn is sent again after a loss, since it can stop no other.
   * @throws LightAgentError what the server refuses; `unavailable` when it names no turn and the connection is lost
   */
  async interrupt(body: InterruptBody = {}): Promise<InterruptReceipt> {
    return (await this.#command({ type: "interrupt", ...body }, body.turn !== undefined)) as InterruptReceipt;
  }

  /** Withdraws a waiting prompt. @throws LightAgentError `not_found` when it does not wait */
  async unqueue(promptId: string): Promise<void> {
    await this.#command({ type: "unqueue", promptId }, true);
  }

  /**
   * Decides an approval; the same decision again is no other, so it outlives a loss.
   * @throws LightAgentError `not_found`, `already_decided`, `invalid_request` for arguments that do not fit the tool
   */
  async approve(approvalId: string, body: DecisionBody): Promise<void> {
    await this.#command({ type: "approve", approvalId, ...body }, true);
  }

  /** Answers a question. @throws LightAgentError `not_found`, `already_decided` */
  async answer(inputId: string, body: AnswerBody): Promise<void> {
    await this.#command({ type: "answer", inputId, ...body }, true);
  }

  async #command(body: CommandBody, repeatable: boolean): Promise<unknown> {
    if (this.#connection.status === "ended" || (!repeatable && !this.#isOpen)) {
      throw new LightAgentError("unavailable", "There is no connection to the session.");
    }
    const { json, settled } = this.#commands.add(body, repeatable);
    if (this.#isOpen) this.#socket?.send(json);
    return settled;
  }

  #connect(): void {
    this.#cancelTimer();
    // What is missing is what the new connection begins with.
    this.#view = { ...this.#view, gap: false };
    this.#change({ status: "connecting" });
    try {
      const credential = credentialText(this.#options.credential);
      if (typeof credential === "string") this.#connectWith(credential);
      else void this.#connectLater(credential);
    } catch (caught) {
      this.#failed(toErrorBody(caught));
    }
  }

  async #connectLater(credential: Promise<string>): Promise<void> {
    const state = this.#connection;
    const given = await credential.catch((caught: unknown) => toErrorBody(caught));
    // Meanwhile it was closed, or is being opened anew.
    if (this.#connection !== state) return;
    if (typeof given === "string") this.#connectWith(given);
    else this.#failed(given);
  }

  /** There is no credential to connect with. */
  #failed(error: ErrorBody): void {
    if (FINAL_ANSWERS.has(error.code)) this.#end(error);
    else this.#retry();
  }

  #connectWith(credential: string): void {
    if (credential === this.#refused) return this.#end(UNAUTHORIZED);
    this.#credential = credential;
    const { url, session, openWebSocket } = this.#options;
    const path = `/v1/sessions/${encodeURIComponent(session)}/ws?after=${this.#view.head}`;
    const protocols = [WEBSOCKET_PROTOCOL, `token.${credential}`];
    const handlers = {
      opened: () => this.#opened(),
      message: (text: string) => this.#message(text),
      lost: (code: number | null) => this.#lost(code),
    };
    try {
      const address = url.replace(/^http/, "ws") + path;
      this.#socket = new SocketConnection(address, protocols, handlers, openWebSocket, this.#timers);
    } catch {
      this.#end({ code: "invalid_request", message: "The address or the credential is not usable." });
    }
  }

  #opened(): void {
    this.#isOpen = true;
    for (const frame of this.#commands.frames) this.#socket?.send(frame);
  }

  #message(text: string): void {
    const frame = readFrame(text);
    if (!frame) return;
    switch (frame.type) {
      case "hello":
        return this.#hello(frame);
      case "sync":
        return this.#socket?.send(JSON.stringify({ type: "synced", n: frame.n }));
      case "ack":
        return this.#commands.acknowledge(frame.id, frame.result);
      case "nack":
        return this.#commands.refuse(frame.id, frame.error);
      default:
        this.#follow(frame);
    }
  }

  #hello(frame: Extract<ServerFrame, { type: "hello" }>): void {
    const { logId } = frame.state;
    if (this.#logId !== null && this.#logId !== logId) return this.#startOver();
    this.#logId = logId;
    this.#change({ status: "catching_up" });
    this.#options.onFrame?.(frame);
  }

  #follow(frame: Frame): void {
    this.#view = applyFrame(this.#view, frame);
    if (this.#view.gap) return this.#retry();
    if (frame.type === "live") {
      this.#change({ status: "live" });
      this.#cancelTimer = this.#timers.after(STABLE_MS, () => (this.#failures = 0));
    }
    this.#options.onFrame?.(frame);
  }

  #lost(code: number | null): void {
    const final = FINAL_CLOSES.get(code);
    if (final) return this.#isRenewed(final) ? this.#retry() : this.#end(final);
    const wasOpen = this.#isOpen;
    this.#retry();
    if (!wasOpen && code !== null) void this.#askWhy();
  }

  /** The opening was refused or failed: only an answer over REST tells whether trying again makes sense. */
  async #askWhy(): Promise<void> {
    const answer = await this.#options.state().catch((caught: unknown) => toErrorBody(caught));
    // Meanwhile the next try may have succeeded, or the owner have closed it.
    if (this.#isOpen || this.#connection.status === "ended") return;
    if ("code" in answer) {
      if (FINAL_ANSWERS.has(answer.code) && !this.#isRenewed(answer)) this.#end(answer);
    } else if (answer.head < this.#view.head) this.#startOver();
  }

  /** Whether another credential may be given the next time, in the place of one that is over. */
  #isRenewed({ code }: ErrorBody): boolean {
    if (code !== UNAUTHORIZED.code || typeof this.#options.credential === "string") return false;
    this.#refused = this.#credential;
    return true;
  }

  /** The server has another log than the one held: what is held is worth nothing. */
  #startOver(): void {
    this.#view = EMPTY_VIEW;
    this.#logId = null;
    this.#retry();
  }

  #retry(): void {
    this.#disconnect();
    this.#commands.cutOff();
    const delayMs = retryDelay(this.#failures, this.#options.random ?? Math.random);
    this.#failures += 1;
    this.#cancelTimer = this.#timers.after(delayMs, () => this.#connect());
    this.#change({ status: "waiting", delayMs });
  }

  #end(error: ErrorBody | null): void {
    this.#disconnect();
    this.#commands.fail(error ?? { code: "unavailable", message: "The connection has been closed." });
    this.#change({ status: "ended", error });
  }

  #disconnect(): void {
    this.#cancelTimer();
    this.#socket?.close();
    this.#socket = null;
    this.#isOpen = false;
  }

  #change(state: ConnectionState): void {
    this.#connection = state;
    this.#options.onConnection?.(state);
  }
}

/** A frame; null for what is none. Types that this client does not know are left to the folds, which ignore them. */
function readFrame(text: string): Frame | null {
  try {
    const frame: unknown = JSON.parse(text);
    const isFrame =
      typeof frame === "object" && frame !== null && "type" in frame && typeof frame.type === "string";
    return isFrame ? (frame as Frame) : null;
  } catch {
    return null;
  }
}
