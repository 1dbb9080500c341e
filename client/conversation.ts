import type { Content } from "../src/runtime/protocol/content.ts";
import type { DurableEvent, DurablePayload, ToolCall } from "../src/runtime/protocol/durable-events.ts";

/** How far a call has come. `asking`: it waits for a person. */
export type CallStatus = "waiting" | "asking" | "running" | "done" | "failed";

/** Something that a person is asked: whether a call may run, or the question of the call itself. */
export type CallRequest =
  | ({ readonly kind: "approval" } & Pick<
      DurablePayload<"approval_request">,
      "approvalId" | "reason" | "expiresAt"
    >)
  | ({ readonly kind: "question"; readonly inputId: string } & Question);

/** What the tool `ask_user` asks. */
export interface Question {
  readonly question: string;
  /** What may be chosen; empty for a free answer. */
  readonly options: readonly string[];
  readonly multiSelect: boolean;
}

/** What a conversation consists of, in the order of the log. `key` is unique in it and never changes. */
export type Entry = { readonly key: string } & (
  | {
      readonly kind: "prompt";
      readonly content: Content;
      readonly entered: "input" | "steer" | "follow_up";
      readonly source: DurablePayload<"input">["source"];
    }
  | { readonly kind: "thought" | "output"; readonly text: string; readonly interrupted: boolean }
  | {
      readonly kind: "call";
      readonly call: ToolCall;
      readonly status: CallStatus;
      /** What it waits for a person with; null while it does not. */
      readonly request: CallRequest | null;
      readonly result: DurablePayload<"tool_result"> | null;
    }
  | { readonly kind: "error"; readonly code: string; readonly message: string }
  | { readonly kind: "stop"; readonly stop: DurablePayload<"agent_stop"> }
  | { readonly kind: "summary"; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: "background"; readonly label: string; readonly status: string }
  | ({ readonly kind: "restore" } & Pick<
      DurablePayload<"checkpoint_restore">,
      "toSeq" | "conversation" | "files" | "skipped"
    >)
);

/** One turn, and what follows it before the next. Unchanged turns keep their identity from fold to fold. */
export interface Turn {
  readonly turn: number;
  /** Whether it has not ended yet. */
  readonly running: boolean;
  readonly entries: readonly Entry[];
}

/** The place of a block of text: the same while it streams and once it is in the log. */
export function blockKey(place: { turn: number; step: number; attempt: number; block: number }): string {
  return `${place.turn}.${place.step}.${place.attempt}.${place.block}`;
}

/**
 * The turns with further events on top. Only the last turns change: what belongs to a sub-agent, or is of a type that
 * this code does not know, is left out. Costs one copy of the list of turns, however many events come.
 */
export function foldConversation(turns: readonly Turn[], events: readonly DurableEvent[]): readonly Turn[] {
  if (events.length === 0) return turns;
  const folded = [...turns];
  const last = folded.pop();
  let open = last && { ...last, entries: [...last.entries] };
  for (const event of events) {
    if (event.agentId !== undefined) continue;
    if (event.type === "input") {
      if (open) folded.push(open);
      open = { turn: event.turn, running: true, entries: [] };
    }
    open ??= { turn: event.turn, running: false, entries: [] };
    if (event.type === "agent_stop") open.running = false;
    applyToEntries(open.entries, event);
  }
  if (open) folded.push(open);
  return folded;
}

/**
 * Earlier turns before later ones. A part of the log that begins between two turns may begin with what still belongs
 * to the turn before: that turn gets it back.
 */
export function joinTurns(earlier: readonly Turn[], later: readonly Turn[]): readonly Turn[] {
  const end = earlier.at(-1);
  const [first, ...rest] = later;
  if (!end || !first || end.turn !== first.turn) return [...earlier, ...later];
  return [...earlier.slice(0, -1), { ...end, entries: [...end.entries, ...first.entries] }, ...rest];
}

function applyToEntries(entries: Entry[], event: DurableEvent): void {
  const key = `${event.seq}`;
  switch (event.type) {
    case "input":
      entries.push({ key, kind: "prompt", content: event.content, entered: "input", source: event.source });
      break;
    case "steer":
      entries.push({ key, kind: "prompt", content: event.content, entered: event.mode, source: "user" });
      break;
    case "thought":
    case "output":
      entries.push({
        key: blockKey(event),
        kind: event.type,
        text: event.text,
        interrupted: event.interrupted ?? false,
      });
      break;
    case "tool_calls":
      entries.push(
        ...event.calls.map((call): Entry => {
          return { key: call.id, kind: "call", call, status: "waiting", request: null, result: null };
        }),
      );
      break;
    case "approval_request": {
      const { approvalId, reason, expiresAt } = event;
      const asked = { approvalId, expiresAt, ...(reason === undefined ? {} : { reason }) };
      setCall(entries, event.callId, { status: "asking", request: { kind: "approval", ...asked } });
      break;
    }
    case "input_request": {
      const request = { kind: "question" as const, inputId: event.inputId, ...questionOf(event.question) };
      setCall(entries, event.callId, { status: "asking", request });
      break;
    }
    case "approval_resolved":
      setCall(entries, event.callId, { status: "waiting" }, event.args);
      break;
    case "input_resolved":
    case "tool_call_start":
      setCall(entries, event.callId, { status: "running" });
      break;
    case "tool_result":
      setCall(entries, event.callId, { status: event.isError ? "failed" : "done", result: event });
      break;
    case "error":
      entries.push({ key, kind: "error", code: event.code, message: event.message });
      break;
    case "agent_stop":
      entries.push({ key, kind: "stop", stop: event });
      break;
    case "agent_summary":
      entries.push({ key, kind: "summary", text: event.text, before: event.before, after: event.after });
      break;
    case "background_completed":
      entries.push({ key, kind: "background", label: event.label, status: event.status });
      break;
    case "checkpoint_restore":
      entries.push({ key, kind: "restore", ...restoreOf(event) });
      break;
    default:
      break;
  }
}

function restoreOf({ toSeq, conversation, files, skipped }: DurableEvent<"checkpoint_restore">) {
  return { toSeq, conversation, files, skipped };
}

type CallFields = Partial<Pick<Extract<Entry, { kind: "call" }>, "request" | "result">>;

/** @param args the arguments that a person has put in the place of the call's own */
function setCall(
  entries: Entry[],
  callId: string,
  { status, request = null, result = null }: CallFields & { readonly status: CallStatus },
  args?: ToolCall["args"],
): void {
  const index = entries.findLastIndex((entry) => entry.kind === "call" && entry.call.id === callId);
  const entry = entries[index];
  if (entry?.kind !== "call") return;
  const call = args === undefined ? entry.call : { ...entry.call, args };
  entries[index] = { ...entry, call, status, request, result };
}

/** The arguments of `ask_user`, which a model has written. */
function questionOf({ question, options, multiSelect }: Readonly<Record<string, unknown>>): Question {
  return {
    question: typeof question === "string" ? question : "",
    options: Array.isArray(options) ? options.filter((option) => typeof option === "string") : [],
    multiSelect: multiSelect === true,
  };
}
