import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import type { PartialBlock, ServerFrame } from "../../../src/runtime/protocol/frames.ts";
import { NO_USAGE } from "../../../src/runtime/protocol/usage.ts";
import { isDelta, truthAt } from "./timeline.ts";
import type { Delta, Moment } from "./timeline.ts";

export type Frame = ServerFrame | AgentEvent;

/** How one connection goes. Numbers are taken modulo what there is. */
export interface ConnectionScript {
  /** Moments that pass while nobody is connected. */
  readonly missed: number;
  /** Moments that the connection lives through. */
  readonly lives: number;
  /** Frames that are still on their way when it breaks. */
  readonly lost: number;
  /** Events that the replay repeats though the client holds them. */
  readonly overlap: number;
  /** Events on a page of the replay. */
  readonly page: number;
  /** Whether deltas that come together are sent as one. */
  readonly coalesces: boolean;
  /** Whether durable events come one by one, as over SSE and NDJSON. */
  readonly single: boolean;
  /** How far back a frame is repeated after each frame; 0 repeats none. */
  readonly repeats: number;
}

/** The frames of a connection that opens after `from` moments with a cursor and lasts until `until`. */
export function framesOf(
  moments: readonly Moment[],
  from: number,
  until: number,
  after: number,
  script: ConnectionScript,
): { readonly opening: readonly Frame[]; readonly following: readonly Frame[] } {
  const { log, partial } = truthAt(moments, from);
  const rest = log.slice(Math.max(0, after - script.overlap));
  const pages: Frame[] = [];
  for (let at = 0; at < rest.length; at += script.page) {
    const events = rest.slice(at, at + script.page);
    pages.push(...(script.single ? events : [{ type: "events" as const, events }]));
  }
  const live: Frame = { type: "live", head: log.length, partial };
  return {
    opening: [hello(log.length), ...pages, live],
    following: follow(moments.slice(from, until), script),
  };
}

function follow(moments: readonly Moment[], script: ConnectionScript): Frame[] {
  const frames: Frame[] = [];
  let pending: Delta | null = null;
  const flush = (): void => {
    if (pending) frames.push(pending);
    pending = null;
  };
  for (const moment of moments) {
    const event = moment.kind === "live" ? moment.event : null;
    if (event && isDelta(event) && script.coalesces) {
      const joined: Delta | null = pending && joinDeltas(pending, event);
      if (!joined) flush();
      pending = joined ?? event;
      continue;
    }
    flush();
    if (event) frames.push(event);
    if (moment.kind === "commit") {
      frames.push(...(script.single ? moment.events : [{ type: "events" as const, events: moment.events }]));
    }
  }
  flush();
  return frames;
}

function joinDeltas(first: Delta, second: Delta): Delta | null {
  const sameBlock =
    first.type === second.type &&
    first.turn === second.turn &&
    first.step === second.step &&
    first.attempt === second.attempt &&
    first.block === second.block;
  return sameBlock ? { ...first, text: first.text + second.text } : null;
}

/** Each frame twice, and after each that follows the opening an earlier one of the connection once more. */
export function withRepeats(opening: readonly Frame[], following: readonly Frame[], back: number): Frame[] {
  if (back === 0) return [...opening, ...following];
  // `live` says what a connection begins with: it is the one frame that has no place later on.
  const all = [...opening.filter(({ type }) => type !== "live"), ...following];
  const before = all.length - following.length;
  const repeated = following.flatMap((frame, index) => {
    const earlier = all[Math.max(0, before + index - back)];
    return earlier ? [frame, frame, earlier] : [frame, frame];
  });
  return [...opening.flatMap((frame) => [frame, frame]), ...repeated];
}

function hello(head: number): Frame {
  const state = {
    id: "s",
    agent: "a",
    agentVersion: 1,
    workspace: "w",
    title: "",
    metadata: {},
    status: "running" as const,
    turn: 0,
    step: 0,
    head,
    oldest: 1,
    logId: "l",
    queued: 0,
    openRequests: 0,
    windowTokens: 0,
    contextWindow: 128_000,
    usage: NO_USAGE,
    createdAt: 0,
    updatedAt: 0,
  };
  return { type: "hello", protocol: 1, state };
}

/** Blocks in an order that does not depend on when they were opened. */
export function inBlockOrder(blocks: readonly PartialBlock[]): PartialBlock[] {
  return [...blocks].sort((left, right) => left.block - right.block);
}
