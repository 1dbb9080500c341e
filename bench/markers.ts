/** Characters of one delta's text: 13 digits and a blank, about what three tokens have. */
const MARKER_CHARS = 14;

/** Microseconds of the machine's monotonic clock, the same in every thread and process. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** A delta's text: when it was sent. Of fixed width, so that deltas that were joined on the way can be told apart. */
export function marker(sentAt: number): string {
  return `${String(sentAt).padStart(MARKER_CHARS - 1, "0")} `;
}

/** When each delta that is complete in `text` was sent, from the `skip`-th on, in microseconds. */
export function sendTimes(text: string, skip: number): number[] {
  const times: number[] = [];
  for (let end = (skip + 1) * MARKER_CHARS; end <= text.length; end += MARKER_CHARS) {
    times.push(Number(text.slice(end - MARKER_CHARS, end)));
  }
  return times;
}
