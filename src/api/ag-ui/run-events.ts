import type { Interrupt } from "@ag-ui/core";
import { textOf } from "../../runtime/protocol/content.ts";
import type { ToolCall } from "../../runtime/protocol/durable-events.ts";
import type { TurnChange } from "../turn-changes.ts";
import { applyRunEvent } from "./run-messages.ts";
import { PROTOCOL_VERSION } from "./wire.ts";
import type { RunEvent, RunMessage } from "./wire.ts";

/** A run of AG-UI, which shows one turn or a part of one: how far it has been told. */
export interface Run {
  readonly threadId: string;
  readonly runId: string;
  /** Clients from before protocol 1.0 declare none, and take no outcome that they do not know. */
  readonly knowsCancelled: boolean;
  readonly started: boolean;
  /** The conversation, as the client has it. */
  readonly messages: readonly RunMessage[];
  /** The message of the open step that calls belong to; null before a text of it. */
  readonly parent: string | null;
}

/** What a client asks a run with. */
interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  /** The version of the protocol that the client speaks. */
  readonly protocolVersion?: string | undefined;
}

/** A run before its first event. @param messages What the client has of the conversation */
export function newRun({ threadId, runId, protocolVersion }: RunInput, messages: readonly RunMessage[]): Run {
  const knowsCancelled = protocolVersion !== undefined;
  return { threadId, runId, knowsCancelled, started: false, messages, parent: null };
}

/** A change of a turn as events of the AG-UI protocol. */
export function toRunEvents(before: Run, change: TurnChange): { run: Run; events: readonly RunEvent[] } {
  const events = eventsOf(before, change);
  let run = { ...before, started: before.started || events.length > 0 };
  if (change.type === "step" || change.type === "resume") run.parent = null;
  if (change.type === "text_begin" && change.kind === "text") run.parent = change.id;
  if (change.type === "withdraw") run.parent = null;
  for (const event of events) run = { ...run, messages: applyRunEvent(run.messages, event) };
  return { run, events };
}

/** The event that begins a run. */
export function runStarted({ threadId, runId }: Run): RunEvent {
  return { type: "RUN_STARTED", threadId, runId, protocolVersion: PROTOCOL_VERSION };
}

/** The event that ends a run whose turn has not failed. */
export function runFinished(
  { threadId, runId }: Run,
  outcome: Extract<RunEvent, { type: "RUN_FINISHED" }>["outcome"],
  result?: unknown,
): RunEvent {
  return {
    type: "RUN_FINISHED",
    threadId,
    runId,
    ...(outcome && { outcome }),
    ...(result !== undefined && { result }),
  };
}

function eventsOf(run: Run, change: TurnChange): RunEvent[] {
  switch (change.type) {
    case "begin":
      return run.started ? [] : [runStarted(run)];
    case "resume":
      return [
        ...(run.started ? [] : [runStarted(run)]),
        ...(change.step > 0 ? [{ type: "STEP_STARTED" as const, stepName: stepName(change.step) }] : []),
      ];
    case "step":
      return [{ type: "STEP_STARTED", stepName: stepName(change.step) }];
    case "step_end":
      return [{ type: "STEP_FINISHED", stepName: stepName(change.step) }];
    case "text_begin":
    case "text_more":
    case "text_end":
      return change.kind === "text" ? textEvents(change) : thoughtEvents(change);
    case "withdraw":
      return [{ type: "MESSAGES_SNAPSHOT", messages: without(run.messages, change.ids) }];
    case "event":
      return shownEvents(run, change);
    case "replaced":
      // The protocol has no other arguments for a call that was told.
      return [];
    case "result": {
      const { callId: toolCallId, content } = change.event;
      return [
        { type: "TOOL_CALL_RESULT", messageId: `result-${toolCallId}`, toolCallId, content, role: "tool" },
      ];
    }
    case "wait":
      return [
        { type: "MESSAGES_SNAPSHOT", messages: [...run.messages] },
        runFinished(run, { type: "interrupt", interrupts: change.requests.map(interruptOf) }),
      ];
    case "dropped":
      return [...(run.started ? [] : [runStarted(run)]), cancelled(run, "withdrawn")];
    case "stop":
      return [stopEvent(run, change)];
  }
}

function cancelled(run: Run, stopReason: string): RunEvent {
  return run.knowsCancelled
    ? runFinished(run, { type: "cancelled" })
    : runFinished(run, undefined, { stopReason });
}

function stepName(step: number): string {
  return `step ${step}`;
}

type TextChange = Extract<TurnChange, { type: "text_begin" | "text_more" | "text_end" }>;

function textEvents(change: TextChange): RunEvent[] {
  const { id: messageId } = change;
  if (change.type === "text_begin") return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
  if (change.type === "text_end") return [{ type: "TEXT_MESSAGE_END", messageId }];
  return [{ type: "TEXT_MESSAGE_CONTENT", messageId, delta: change.text }];
}

function thoughtEvents(change: TextChange): RunEvent[] {
  const { id: messageId } = change;
  if (change.type === "text_more")
    return [{ type: "REASONING_MESSAGE_CONTENT", messageId, delta: change.text }];
  if (change.type === "text_begin") {
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    ];
  }
  return [
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
}

/** A client keeps thoughts that a snapshot does not name, so a withdrawn one is named, and empty. */
function without(messages: readonly RunMessage[], ids: readonly string[]): RunMessage[] {
  return messages.flatMap((message): RunMessage[] => {
    if (!ids.includes(message.id)) return [message];
    return message.role === "reasoning" ? [{ ...message, content: "" }] : [];
  });
}

function shownEvents(run: Run, { event }: Extract<TurnChange, { type: "event" }>): RunEvent[] {
  if (event.type === "steer") {
    const messageId = event.promptId;
    return [
      { type: "TEXT_MESSAGE_START", messageId, role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", messageId, delta: textOf(event.content) },
      { type: "TEXT_MESSAGE_END", messageId },
    ];
  }
  if (event.type !== "tool_calls") return [];
  const parentMessageId = run.parent ?? `calls-${event.turn}-${event.step}`;
  return event.calls.flatMap((call) => callEvents(call, parentMessageId));
}

function callEvents(
  { id: toolCallId, name, args, malformed }: ToolCall,
  parentMessageId: string,
): RunEvent[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: name, parentMessageId },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: malformed ?? JSON.stringify(args) },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

const APPROVAL_SCHEMA = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    reason: { type: "string" },
    editedArgs: { type: "object", description: "Full replacement of the call's arguments." },
  },
  required: ["approved"],
};

const ANSWER_SCHEMA = {
  type: "object",
  properties: { text: { type: "string" }, selected: { type: "array", items: { type: "string" } } },
};

function interruptOf(request: Extract<TurnChange, { type: "wait" }>["requests"][number]): Interrupt {
  const { callId: toolCallId } = request;
  if (request.type === "approval_request") {
    const { approvalId: id, name, reason, digest, policyVersion } = request;
    return {
      id,
      reason: "tool_call",
      message: reason ?? `Allow ${name}?`,
      toolCallId,
      responseSchema: APPROVAL_SCHEMA,
      ...expiry(request.expiresAt),
      metadata: { digest, policyVersion },
    };
  }
  const { question } = request.question;
  return {
    id: request.inputId,
    reason: "input_required",
    ...(typeof question === "string" && { message: question }),
    toolCallId,
    responseSchema: ANSWER_SCHEMA,
    metadata: request.question,
  };
}

/** The last moment that a date can name, in ms since the epoch. */
const LAST_DATE = 8.64e15;

function expiry(at: number): { expiresAt?: string } {
  return Math.abs(at) <= LAST_DATE ? { expiresAt: new Date(at).toISOString() } : {};
}

function stopEvent(run: Run, { event, failure }: Extract<TurnChange, { type: "stop" }>): RunEvent {
  switch (event.reason) {
    case "stop":
      return runFinished(run, { type: "success" });
    case "aborted":
      return cancelled(run, event.reason);
    case "error":
      return {
        type: "RUN_ERROR",
        message: failure?.message ?? "The turn failed.",
        ...(failure && { code: failure.code }),
      };
    case "max_steps":
    case "budget":
      return runFinished(run, { type: "success" }, { stopReason: event.reason });
  }
}
