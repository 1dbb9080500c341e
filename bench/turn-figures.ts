import type { Dialect, Turn } from "./conversation.ts";
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

/** @throws RangeError for a turn without deltas */
export function textFigures(turn: Turn, dialect: Pick<Dialect, "deltaText">): TextFigures {
  let text = "";
  let deltaBytes = 0;
  let frames = 0;
  const delays: number[] = [];
  const sent: number[] = [];
  const arrived: number[] = [];
  for (const frame of turn.frames) {
    const delta = dialect.deltaText(frame.text);
    if (delta === null) continue;
    frames += 1;
    deltaBytes += Buffer.byteLength(frame.text);
    text += delta;
    for (const sentAt of sendTimes(text, sent.length)) {
      sent.push(sentAt);
      arrived.push(frame.at);
      delays.push((frame.at - sentAt) / 1_000);
    }
  }
  const [firstSent = Number.NaN] = sent;
  const [firstArrived = Number.NaN] = arrived;
  const seconds = ((arrived.at(-1) ?? Number.NaN) - firstSent) / 1e6;
  const allBytes = turn.frames.reduce((sum, frame) => sum + Buffer.byteLength(frame.text), 0);
  return {
    deltas: sent.length,
    perSecond: sent.length / seconds,
    firstMs: (firstArrived - turn.promptedAt) / 1_000,
    p50Ms: quantile(delays, 0.5),
    p99Ms: quantile(delays, 0.99),
    bytesPerDelta: deltaBytes / sent.length,
    allBytesPerDelta: allBytes / sent.length,
    frames,
  };
}

/** From the prompt to the frame that ended the turn, in ms. */
export function wholeMs({ promptedAt, frames }: Turn): number {
  return ((frames.at(-1)?.at ?? Number.NaN) - promptedAt) / 1_000;
}
