import type { Dialect, Frame, Turn } from "./conversation.ts";
import { sendTimes } from "./markers.ts";
import { quantile } from "./statistics.ts";

/** What a turn of text comes to, as its reader sees it. Times in ms, sizes in bytes of the frames' content. */
export interface TextFigures {
  readonly deltas: number;
  /** Deltas per second, from the first one's sending to the last one's arrival. */
  readonly perSecond: number;
  /** From the prompt to the first delta. */
  readonly firstMs: number;
  /** What the server adds between a delta's sending and its arrival. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the frames that carry deltas, for each delta of the model. */
  readonly bytesPerDelta: number;
  /** Of all frames of the turn, for each delta of the model. */
  readonly allBytesPerDelta: number;
  /** Frames that carried deltas. */
  readonly frames: number;
}

/** One delta at one client, in microseconds of the monotonic clock. */
export interface Delivery {
  readonly sentAt: number;
  readonly arrivedAt: number;
}

/** When each delta of a turn was sent and when it arrived, whether it came alone or joined with others. */
export function deliveries(turn: Turn, dialect: Pick<Dialect, "deltaText">): Delivery[] {
  const all: Delivery[] = [];
  let text = "";
  for (const frame of turn.frames) {
    const delta = dialect.deltaText(frame.text);
    if (delta === null) continue;
    text += delta;
    for (const sentAt of sendTimes(text, all.length)) all.push({ sentAt, arrivedAt: frame.at });
  }
  return all;
}

/** @throws RangeError for a turn without deltas */
export function textFigures(turn: Turn, dialect: Pick<Dialect, "deltaText">): TextFigures {
  const carriers = turn.frames.filter(({ text }) => dialect.deltaText(text) !== null);
  const all = deliveries(turn, dialect);
  const added = all.map(addedMs);
  const bytes = (frames: readonly Frame[]): number =>
    frames.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return {
    deltas: all.length,
    perSecond: perSecond(all),
    firstMs: ((all[0]?.arrivedAt ?? Number.NaN) - turn.promptedAt) / 1_000,
    p50Ms: quantile(added, 0.5),
    p99Ms: quantile(added, 0.99),
    bytesPerDelta: bytes(carriers) / all.length,
    allBytesPerDelta: bytes(turn.frames) / all.length,
    frames: carriers.length,
  };
}

/** What the server adds to a delta's way, in ms. */
export function addedMs({ sentAt, arrivedAt }: Delivery): number {
  return (arrivedAt - sentAt) / 1_000;
}

/** Deliveries per second, from the first one's sending to the last one's arrival. */
export function perSecond(all: readonly Delivery[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const { sentAt, arrivedAt } of all) {
    first = Math.min(first, sentAt);
    last = Math.max(last, arrivedAt);
  }
  return all.length / ((last - first) / 1e6);
}

/** From the prompt to the frame that ended the turn, in ms. */
export function wholeMs({ promptedAt, frames }: Turn): number {
  return ((frames.at(-1)?.at ?? Number.NaN) - promptedAt) / 1_000;
}
