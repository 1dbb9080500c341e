import { microseconds } from "./markers.ts";

/** One message of a WebSocket as it came. */
export interface Frame {
  /** In microseconds of the monotonic clock. */
  readonly at: number;
  readonly text: string;
}

/** What a client saw of one turn. */
export interface Turn {
  /** When the prompt was sent, in microseconds. */
  readonly promptedAt: number;
  readonly frames: readonly Frame[];
}

/** How one server is spoken with. Frames are taken apart after a turn, so that the client is quick during it. */
export interface Dialect {
  /** The message that starts a turn with a model. */
  prompt(model: string): Promise<string>;
  /** Whether a frame ends its turn. */
  ends(frame: string): boolean;
  /** What the protocol wants said at once in answer to a frame. */
  reply?(frame: string): string | null;
  /** The text of the delta that a frame carries; null for any other frame. */
  deltaText(frame: string): string | null;
  /** The text that a client who joins in mid-turn has by a frame; null for a server that does not tell what it missed. */
  readonly missedText: ((frame: string) => string | null) | null;
}

/** A turn that takes longer has failed. */
const PATIENCE_MS = 60_000;

/** A WebSocket to one session of a server. */
export class Conversation {
  readonly #socket: WebSocket;
  readonly #dialect: Dialect;
  #frames: Frame[] = [];
  #ended: () => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  private constructor(socket: WebSocket, dialect: Dialect) {
    this.#socket = socket;
    this.#dialect = dialect;
    socket.addEventListener("message", ({ data }) => this.#receive(String(data)));
    socket.addEventListener("close", ({ code }) =>
      this.#failed(new Error(`The socket was closed: ${code}.`)),
    );
  }

  static async open(url: string, dialect: Dialect, protocols: readonly string[] = []): Promise<Conversation> {
    const socket = new WebSocket(url.replace(/^http/, "ws"), [...protocols]);
    const conversation = new Conversation(socket, dialect);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error("The socket could not be opened.")));
    });
    return conversation;
  }

  /** Prompts, and resolves when the turn has ended. @throws Error when the socket closes or nothing ends it */
  async turn(model: string): Promise<Turn> {
    const message = await this.#dialect.prompt(model);
    const turn = this.follow(model);
    this.#socket.send(message);
    return turn;
  }

  /** What has come since the turn that is followed began, or since the socket was opened. */
  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /** Resolves when a turn that somebody else prompts has ended. @throws Error when the socket closes or nothing ends it */
  async follow(model: string): Promise<Turn> {
    this.#frames = [];
    const ended = new Promise<void>((resolve, reject) => {
      this.#ended = resolve;
      this.#failed = reject;
    });
    const timer = setTimeout(() => {
      const last = this.#frames.at(-1)?.text.slice(0, 500);
      this.#failed(new Error(`The turn of ${model} did not end. Last frame: ${last}`));
    }, PATIENCE_MS);
    const promptedAt = microseconds();
    try {
      await ended;
    } finally {
      clearTimeout(timer);
    }
    return { promptedAt, frames: this.#frames };
  }

  close(): void {
    this.#failed = () => undefined;
    this.#socket.close();
  }

  #receive(text: string): void {
    this.#frames.push({ at: microseconds(), text });
    const reply = this.#dialect.reply?.(text);
    if (reply) this.#socket.send(reply);
    if (this.#dialect.ends(text)) this.#ended();
  }
}
