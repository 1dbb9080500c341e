import { Observable } from "../client/index.ts";
import type { Checkpoint, RestClient, TurnTrace } from "../client/index.ts";
import type { DurableEvent } from "../src/runtime/protocol/durable-events.ts";
import { toErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";

/** What is looked at beside the conversation. */
export type Panel =
  | { readonly kind: "context" | "checkpoints" }
  | { readonly kind: "trace"; readonly turn: number };

/** What goes back to a checkpoint. */
export type RestoredPart = "both" | "conversation" | "files";

export interface InspectorState {
  readonly panel: Panel | null;
  /** The newest first, as far as they have been listed; null before any is. */
  readonly checkpoints: readonly Checkpoint[] | null;
  /** Whether there are earlier ones. */
  readonly moreCheckpoints: boolean;
  /** Of the turn that was looked at last; null before one was. */
  readonly trace: TurnTrace | null;
  /** Whether something that was asked for is on its way. */
  readonly busy: boolean;
  /** What has failed, until something else is asked for. */
  readonly problem: ErrorBody | null;
  /** What has been done. */
  readonly notice: string | null;
}

const CHECKPOINTS_AT_ONCE = 30;
const TITLE_LENGTH = 200;

const NOTHING_ASKED: Pick<InspectorState, "busy" | "problem" | "notice"> = {
  busy: false,
  problem: null,
  notice: null,
};

/** Events after which a turn's trace is another one. */
const TRACED: ReadonlySet<string> = new Set([
  "agent_trace",
  "tool_call_start",
  "tool_result",
  "approval_request",
  "approval_resolved",
  "input_request",
  "input_resolved",
  "agent_stop",
]);

const RESTORED: Readonly<Record<RestoredPart, string>> = {
  both: "Conversation and files are",
  conversation: "The conversation is",
  files: "The files are",
};

/** What can be looked at and done about a session besides talking with it. */
export class SessionInspector extends Observable<InspectorState> {
  readonly #rest: RestClient;
  readonly #session: string;
  #cursor: string | null = null;
  #reading: Promise<void> | null = null;
  #again = false;

  constructor(rest: RestClient, session: string) {
    super({ panel: null, checkpoints: null, moreCheckpoints: false, trace: null, ...NOTHING_ASKED });
    this.#rest = rest;
    this.#session = session;
  }

  show(panel: Panel): void {
    this.change({ panel, ...NOTHING_ASKED });
    if (panel.kind === "checkpoints") void this.listCheckpoints();
    if (panel.kind === "trace") void this.readTrace();
  }

  close(): void {
    this.change({ panel: null, ...NOTHING_ASKED });
  }

  /** Has an earlier part of the conversation summarised. @param instructions What the summary is to heed; may be empty */
  async summarise(instructions: string): Promise<void> {
    const body = instructions.trim() === "" ? {} : { instructions: instructions.trim() };
    await this.#do(
      () => this.#rest.compact(this.#session, body),
      ({ before, after }) =>
        `Summarised: about ${before.toLocaleString("en")} tokens became ${after.toLocaleString("en")}.`,
    );
  }

  /** The log has grown. */
  follow(events: readonly DurableEvent[]): void {
    const { panel } = this.value;
    if (panel?.kind !== "trace") return;
    if (events.some(({ turn, type }) => turn === panel.turn && TRACED.has(type))) void this.readTrace();
  }

  /** Reads the trace that is looked at. One at a time: calls meanwhile make one more. */
  readTrace(): Promise<void> {
    this.#again = this.#reading !== null;
    this.#reading ??= this.#readTrace().finally(() => {
      this.#reading = null;
      if (this.#again) void this.readTrace();
    });
    return this.#reading;
  }

  /** Lists the newest checkpoints. */
  async listCheckpoints(): Promise<void> {
    this.#cursor = null;
    await this.#listFrom([]);
  }

  async listMoreCheckpoints(): Promise<void> {
    await this.#listFrom(this.value.checkpoints ?? []);
  }

  async restore({ turn, seq }: Checkpoint, part: RestoredPart): Promise<void> {
    const body = { toSeq: seq, conversation: part !== "files", files: part !== "conversation" };
    await this.#do(
      () => this.#rest.restore(this.#session, body),
      ({ skipped }) => {
        const left = skipped.map(({ path, reason }) => `${path} (${reason})`).join(", ");
        const done = `${RESTORED[part]} as before turn ${turn}.`;
        return left === "" ? done : `${done} Left as they are: ${left}.`;
      },
    );
  }

  /** Gives the new session's id; null when there is none. @param title What this session is called; may be empty */
  async fork({ seq }: Checkpoint, title: string): Promise<string | null> {
    const name = title === "" ? {} : { title: `Fork of ${title}`.slice(0, TITLE_LENGTH).toWellFormed() };
    const forked = await this.#do(
      () => this.#rest.fork(this.#session, { atSeq: seq, ...name }),
      () => null,
    );
    return forked?.id ?? null;
  }

  async #readTrace(): Promise<void> {
    const { panel } = this.value;
    if (panel?.kind !== "trace") return;
    try {
      const trace = await this.#rest.trace(this.#session, { turn: panel.turn });
      if (this.value.panel === panel) this.change({ trace, problem: null });
    } catch (caught) {
      if (this.value.panel === panel) this.change({ problem: toErrorBody(caught) });
    }
  }

  async #listFrom(known: readonly Checkpoint[]): Promise<void> {
    const page = await this.#do(
      () =>
        this.#rest.checkpoints(this.#session, {
          limit: CHECKPOINTS_AT_ONCE,
          ...(this.#cursor !== null && { cursor: this.#cursor }),
        }),
      () => null,
    );
    if (!page) return;
    this.#cursor = page.next;
    this.change({ checkpoints: [...known, ...page.data], moreCheckpoints: page.next !== null });
  }

  /** One thing at a time. Null when it has failed, or something else is on its way. */
  async #do<T>(call: () => Promise<T>, notice: (answer: T) => string | null): Promise<T | null> {
    if (this.value.busy) return null;
    this.change({ ...NOTHING_ASKED, busy: true });
    try {
      const answer = await call();
      this.change({ busy: false, notice: notice(answer) });
      return answer;
    } catch (caught) {
      this.change({ busy: false, problem: toErrorBody(caught) });
      return null;
    }
  }
}
