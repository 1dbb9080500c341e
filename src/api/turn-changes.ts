import type { DurableEvent, ToolCall } from "../runtime/protocol/durable-events.ts";
import type { AgentEvent } from "../runtime/protocol/events.ts";
import type { ServerFrame } from "../runtime/protocol/frames.ts";
import { EMPTY_FOLD, applyEvent, waitsForPerson } from "../runtime/protocol/session-fold.ts";
import type { SessionFold, TurnState } from "../runtime/protocol/session-fold.ts";
import { EMPTY_VIEW, applyFrame } from "../runtime/protocol/session-view.ts";
import type { SessionView } from "../runtime/protocol/session-view.ts";

/** What one line of a session's event stream holds. */
export type StreamFrame = AgentEvent | Extract<ServerFrame, { type: "live" }>;

type TextKind = "text" | "thought";

/** Calls, requests and messages that are shown as they stand in the log. */
type ShownEvent = DurableEvent<
  "steer" | "tool_calls" | "approval_request" | "approval_resolved" | "input_request" | "input_resolved"
>;

type OpenRequest = DurableEvent<"approval_request" | "input_request">;

/**
 * What becomes different for somebody who is shown one turn. The changes of a turn begin with `begin`, or with
 * `resume` where an earlier part has been shown before, and end with `stop`, `wait` or `dropped`. Texts have ids of
 * their own; each begins, goes on and ends. `withdraw` takes back all texts of the step so far, after their ends.
 */
export type TurnChange =
  | { readonly type: "begin"; readonly turn: number; readonly firstSeq: number }
  /** In the midst of a step. */
  | { readonly type: "resume"; readonly turn: number; readonly firstSeq: number; readonly step: number }
  | { readonly type: "step" | "step_end"; readonly step: number }
  | { readonly type: "text_begin"; readonly id: string; readonly kind: TextKind }
  | { readonly type: "text_more"; readonly id: string; readonly kind: TextKind; readonly text: string }
  | { readonly type: "text_end"; readonly id: string; readonly kind: TextKind }
  | { readonly type: "withdraw"; readonly ids: readonly string[] }
  | { readonly type: "event"; readonly event: ShownEvent }
  /** A person has put other arguments in the place of the model's. */
  | { readonly type: "replaced"; readonly call: ToolCall }
  /** `refused`: a person, or nobody in time, did not allow the call. */
  | { readonly type: "result"; readonly event: DurableEvent<"tool_result">; readonly refused: boolean }
  | {
      readonly type: "stop";
      readonly event: DurableEvent<"agent_stop">;
      /** What the turn failed of. */
      readonly failure: TurnState["failure"];
      readonly cut: boolean;
    }
  /** Only a person's answer moves the turn. */
  | { readonly type: "wait"; readonly requests: readonly OpenRequest[] }
  /** The prompt is withdrawn; or there is no such turn. */
  | { readonly type: "dropped" };

/** Which turn is followed, and from where on its changes are told. */
export interface TurnQuery {
  /** The cursor that the stream of events begins after: before the turn's first event. */
  readonly after: number;
  /** The prompt that opens the turn, or the turn's number. */
  readonly of: { readonly promptId: string } | { readonly turn: number };
  /** Approvals by their ids, questions by their calls: what comes before an answer to one of them has been shown. */
  readonly resumeAt?: ReadonlySet<string>;
}

interface ShownText {
  readonly id: string;
  readonly kind: TextKind;
  readonly block: number;
  readonly attempt: number;
  readonly length: number;
  readonly ended: boolean;
  /** Whether the log holds it. */
  readonly kept: boolean;
}

/** How far the turn has been followed. */
export interface TurnProgress {
  readonly query: TurnQuery;
  readonly view: SessionView;
  readonly session: SessionFold;
  /** Null before the prompt has opened a turn. */
  readonly turn: number | null;
  /** Where its `input` stands. */
  readonly firstSeq: number;
  /** The step that is open; 0 without one. */
  readonly step: number;
  readonly texts: readonly ShownText[];
  /** Every request of the turn so far. */
  readonly requests: readonly OpenRequest[];
  /** Whether the log has been read to its head: only then a request that is open is one. */
  readonly live: boolean;
  readonly told: boolean;
  readonly ended: boolean;
}

/** Before the first frame. */
export function startFollowing(query: TurnQuery): TurnProgress {
  return {
    query,
    view: { ...EMPTY_VIEW, head: query.after },
    session: EMPTY_FOLD,
    turn: null,
    firstSeq: 0,
    step: 0,
    texts: [],
    requests: [],
    live: false,
    told: query.resumeAt === undefined,
    ended: false,
  };
}

/**
 * One frame of a session's event stream, as changes of the one turn. Pure and total; frames that repeat or overlap
 * change nothing. It needs every durable event from `after` on, and of the live ones the text deltas, the starts of
 * attempts and their resets.
 */
export function followTurn(
  before: TurnProgress,
  frame: StreamFrame,
): { progress: TurnProgress; changes: TurnChange[] } {
  if (before.ended) return { progress: before, changes: [] };
  const follower = new Follower(before);
  follower.next(frame);
  return { progress: follower.progress, changes: follower.changes };
}

/** The fold's one step, as a place for what it builds; it does not outlive {@link followTurn}. */
class Follower {
  progress: TurnProgress;
  changes: TurnChange[] = [];

  constructor(before: TurnProgress) {
    this.progress = before;
  }

  next(frame: StreamFrame): void {
    const { head } = this.progress.view;
    const repeated = "seq" in frame && frame.seq <= head;
    // The view is for the open blocks; its list of events would only grow.
    this.#set({ view: { ...applyFrame(this.progress.view, frame), events: [] } });
    if (repeated) return;
    if ("seq" in frame) this.#durable(frame);
    else if (frame.type === "live") this.#reachHead();
    if (this.progress.turn !== null && !this.progress.ended) {
      if (!("seq" in frame)) this.#showOpenTexts();
      this.#waitForPerson();
    }
    if (!this.progress.told) this.changes = [];
  }

  #set(change: Partial<TurnProgress>): void {
    this.progress = { ...this.progress, ...change };
  }

  #tell(change: TurnChange): void {
    this.changes.push(change);
  }

  #durable(event: DurableEvent): void {
    const { open } = this.progress.session;
    this.#set({ session: applyEvent(this.progress.session, event) });
    if (event.agentId !== undefined) return;
    if (this.progress.turn === null) return this.#findTurn(event);
    if (event.turn !== this.progress.turn) return;
    switch (event.type) {
      case "thought":
      case "output":
        return this.#keepText(event);
      case "agent_trace":
        return this.#settleTexts();
      case "steer":
        if (event.step > this.progress.step) this.#closeStep();
        return this.#tell({ type: "event", event });
      case "tool_calls":
        this.#openStep(event.step);
        return this.#tell({ type: "event", event });
      case "approval_resolved":
        this.#resume(event.approvalId);
        this.#tellReplaced(event);
        return this.#tell({ type: "event", event });
      case "input_resolved":
        this.#resume(event.callId);
        return this.#tell({ type: "event", event });
      case "approval_request":
      case "input_request":
        this.#set({ requests: [...this.progress.requests, event] });
        return this.#tell({ type: "event", event });
      case "tool_result": {
        const asked = open?.calls.find(({ call }) => call.id === event.callId)?.approval;
        const refused = asked !== undefined && asked !== null && asked.decision !== "allow";
        return this.#tell({ type: "result", event, refused });
      }
      case "agent_stop": {
        // Whoever has been shown less than all of it is told at least how it ended.
        if (!this.progress.told) this.#resume();
        this.#closeStep();
        this.#tell({
          type: "stop",
          event,
          failure: open?.failure ?? null,
          cut: open?.reply === "length",
        });
        return this.#set({ ended: true });
      }
      default:
        return;
    }
  }

  #reachHead(): void {
    this.#set({ live: true });
    // A turn that is named has begun before.
    if (this.progress.turn === null && "turn" in this.progress.query.of) this.#drop();
  }

  #drop(): void {
    this.#tell({ type: "dropped" });
    this.#set({ told: true, ended: true });
  }

  #tellReplaced({ callId, args }: DurableEvent<"approval_resolved">): void {
    if (args === undefined) return;
    const state = this.progress.session.open?.calls.find(({ call }) => call.id === callId);
    if (state) this.#tell({ type: "replaced", call: state.call });
  }

  #findTurn(event: DurableEvent): void {
    const { of } = this.progress.query;
    const begins =
      "turn" in of
        ? event.type === "input" && event.turn === of.turn
        : event.type === "input" && event.promptId === of.promptId;
    if (begins) {
      this.#set({ turn: event.turn, firstSeq: event.seq });
      return this.#tell({ type: "begin", turn: event.turn, firstSeq: event.seq });
    }
    const dropped = event.type === "prompt_dropped" && "promptId" in of && event.promptId === of.promptId;
    if (dropped) this.#drop();
  }

  /** From an answer on the turn is told, when it was to be told from there on. */
  #resume(answered?: string): void {
    const { query, told, turn, step, firstSeq } = this.progress;
    if (told || turn === null || (answered !== undefined && !query.resumeAt?.has(answered))) return;
    // What came before has been shown, down to this change.
    this.changes = [{ type: "resume", turn, firstSeq, step }];
    this.#set({ told: true });
  }

  #openStep(step: number): void {
    if (step === this.progress.step) return;
    this.#closeStep();
    this.#tell({ type: "step", step });
    this.#set({ step });
  }

  #closeStep(): void {
    const { step } = this.progress;
    this.#settleTexts();
    if (step > 0) this.#tell({ type: "step_end", step });
    this.#set({ step: 0, texts: [] });
  }

  /** The open blocks of the reply, as far as they have not been shown; what is no longer among them is withdrawn. */
  #showOpenTexts(): void {
    const { view, turn, texts } = this.progress;
    const open = view.blocks.filter((block) => block.turn === turn && block.kind !== "tool_args");
    const stands = texts.every(({ block, attempt, kept }) =>
      kept ? true : open.some((other) => other.block === block && other.attempt === attempt),
    );
    if (!stands) this.#withdraw();
    for (const { step, attempt, block, kind, text } of open) {
      if (kind === "tool_args" || text === "") continue;
      this.#openStep(step);
      this.#showText({ kind, attempt, block }, text);
    }
  }

  /** A text of the reply as the log keeps it. */
  #keepText(event: DurableEvent<"thought"> | DurableEvent<"output">): void {
    const { attempt, block, text } = event;
    if (text === "") return;
    this.#openStep(event.step);
    if (this.progress.texts.some((shown) => shown.attempt < attempt)) this.#withdraw();
    const kind = event.type === "thought" ? "thought" : "text";
    this.#showText({ kind, attempt, block }, text);
    this.#set({
      texts: this.progress.texts.map((shown) => (shown.block === block ? { ...shown, kept: true } : shown)),
    });
    for (const shown of this.progress.texts) if (shown.block === block) this.#endText(shown);
  }

  /** Shows what of a block's text has not been shown. The texts before it are ended. */
  #showText(place: { kind: TextKind; attempt: number; block: number }, text: string): void {
    const { kind, attempt, block } = place;
    const parts = this.progress.texts.filter((shown) => shown.block === block);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const more = text.slice(length);
    if (more === "") return;
    const last = parts.at(-1);
    let id = last?.id ?? "";
    if (!last || last.ended) {
      for (const shown of this.progress.texts) this.#endText(shown);
      const { turn, step } = this.progress;
      // A text that goes on after another has begun goes on as a further one.
      id = [turn, step, attempt, block, ...(parts.length > 0 ? [parts.length] : [])].join("-");
      this.#tell({ type: "text_begin", id, kind });
      const begun: ShownText = { id, kind, block, attempt, length: 0, ended: false, kept: false };
      this.#set({ texts: [...this.progress.texts, begun] });
    }
    this.#tell({ type: "text_more", id, kind, text: more });
    const grow = (shown: ShownText): ShownText =>
      shown.id === id ? { ...shown, length: shown.length + more.length } : shown;
    this.#set({ texts: this.progress.texts.map(grow) });
  }

  /** The reply has come: what it does not hold was of an attempt that came to nothing. */
  #settleTexts(): void {
    const { texts } = this.progress;
    if (texts.some(({ kept }) => !kept)) return this.#withdraw();
    for (const text of texts) this.#endText(text);
  }

  #endText({ id, kind, ended }: ShownText): void {
    if (ended) return;
    this.#tell({ type: "text_end", id, kind });
    this.#set({
      texts: this.progress.texts.map((shown) => (shown.id === id ? { ...shown, ended: true } : shown)),
    });
  }

  #withdraw(): void {
    const { texts } = this.progress;
    if (texts.length === 0) return;
    for (const text of texts) this.#endText(text);
    this.#tell({ type: "withdraw", ids: texts.map(({ id }) => id) });
    this.#set({ texts: [] });
  }

  #waitForPerson(): void {
    const { live, session, requests } = this.progress;
    if (!live || !session.open || !waitsForPerson(session.open)) return;
    if (!this.progress.told) this.#resume();
    const { calls } = session.open;
    this.#closeStep();
    const isOpen = (request: OpenRequest): boolean =>
      calls.some(({ approval, question }) =>
        request.type === "approval_request"
          ? approval?.open === true && approval.id === request.approvalId
          : question?.open === true && question.id === request.inputId,
      );
    this.#tell({ type: "wait", requests: requests.filter(isOpen) });
    this.#set({ ended: true });
  }
}
