import fc from "fast-check";
import { followTurn, startFollowing } from "../../../src/api/turn-changes.ts";
import type { StreamFrame, TurnChange, TurnProgress, TurnQuery } from "../../../src/api/turn-changes.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { framesOf } from "./simulated-connection.ts";
import { timelines, truthAt } from "./timeline.ts";
import type { Moment } from "./timeline.ts";

/** A turn of a session, and when somebody comes to follow it. */
export interface Visit {
  readonly moments: readonly Moment[];
  readonly input: DurableEvent<"input">;
  /** Moments that have passed when the reader connects. */
  readonly from: number;
  /** Frames after which the connection breaks. */
  readonly cut: number;
}

/** Visits to generated sessions: any turn, from before its beginning to after its end, cut anywhere. */
export const visits: fc.Arbitrary<Visit> = fc
  .tuple(timelines, fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }))
  .map(([moments, turn, from, cut]) => {
    const inputs = truthAt(moments, moments.length).log.filter(isOwnInput);
    const input = inputs[turn % Math.max(1, inputs.length)];
    return input && { moments, input, from: from % (moments.length + 1), cut };
  })
  .filter((visit) => visit !== undefined);

function isOwnInput(event: DurableEvent): event is DurableEvent<"input"> {
  return event.type === "input" && event.agentId === undefined;
}

/** What a reader who comes after `from` moments and stays is sent: one event at a time, up to the next crash. */
export function framesFrom(moments: readonly Moment[], from: number, after: number): StreamFrame[] {
  const crash = moments.findIndex(({ kind }, index) => index >= from && kind === "crash");
  const until = crash === -1 ? moments.length : crash;
  const script = {
    missed: 0,
    lives: 0,
    lost: 0,
    overlap: 0,
    page: 1,
    coalesces: false,
    single: true,
    repeats: 0,
  };
  const { opening, following } = framesOf(moments, from, until, after, script);
  return [...opening, ...following].filter((frame): frame is StreamFrame => frame.type !== "hello");
}

/** The changes that a turn's stream tells. */
export function changesOf(
  query: TurnQuery,
  frames: readonly StreamFrame[],
): { changes: TurnChange[]; progress: TurnProgress } {
  let progress = startFollowing(query);
  const changes: TurnChange[] = [];
  for (const frame of frames) {
    const followed = followTurn(progress, frame);
    progress = followed.progress;
    changes.push(...followed.changes);
  }
  return { changes, progress };
}
