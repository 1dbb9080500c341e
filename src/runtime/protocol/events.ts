import * as z from "zod";
import { durablePayloads } from "./durable-events.ts";
import type { DurableEvent, DurableType } from "./durable-events.ts";
import { livePayloads } from "./live-events.ts";
import type { LiveEvent, LiveType } from "./live-events.ts";

/** Every event that a consumer can see. `error` exists in both kinds: fatal in the log, not fatal live. */
export type AgentEvent = DurableEvent | LiveEvent;
export type EventType = DurableType | LiveType;

interface EventKind {
  durable: boolean;
  live: boolean;
  /** Whether a subscriber that named no types gets its live form; durable events always come by default. */
  default: boolean;
}

/** Live events that only repeat durable facts or are chatty: sent to whoever subscribes to them by name. */
const ON_REQUEST: ReadonlySet<string> = new Set<LiveType>([
  "message",
  "tool_use",
  "done",
  "tool_args_delta",
  "context_status",
]);

function kindOf(type: string): EventKind {
  return { durable: type in durablePayloads, live: type in livePayloads, default: !ON_REQUEST.has(type) };
}

const TYPES = [...new Set([...Object.keys(durablePayloads), ...Object.keys(livePayloads)])] as EventType[];

/** Of each type whether it is durable, live or both, and whether a subscriber gets it without asking. */
export const EVENT_TABLE: ReadonlyMap<EventType, EventKind> = new Map(
  TYPES.map((type) => [type, kindOf(type)]),
);

/** Whether a string names an event type. */
export function isEventType(type: string): type is EventType {
  return EVENT_TABLE.has(type as EventType);
}

/** Whether the event stands in the log. */
export function isDurable(event: AgentEvent): event is DurableEvent {
  return "seq" in event;
}

const coordinates = {
  turn: z.int().nonnegative(),
  step: z.int().nonnegative(),
  agentId: z.string().optional(),
};

/** The zod schema of one durable event, envelope included. */
export function durableSchema(type: DurableType): z.ZodObject {
  const envelope = { seq: z.int().positive(), at: z.number(), ...coordinates, type: z.literal(type) };
  return z.object({ ...envelope, ...durablePayloads[type].shape });
}

/** The zod schema of one live event. */
export function liveSchema(type: LiveType): z.ZodObject {
  return z.object({ type: z.literal(type), ...coordinates, ...livePayloads[type].shape });
}
