import type { CallStatus, ConnectionState, Entry } from "../client/index.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";

const UNITS = ["B", "kB", "MB", "GB"];

/** A size in bytes as people read it: `1.4 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** A duration in ms as people read it: `420 ms`, `3.1 s`. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** A share of a whole: `12 %`; a small one is not nothing. */
export function shareText(part: number, whole: number): string {
  const percent = whole > 0 ? (part / whole) * 100 : 0;
  return percent > 0 && percent < 1 ? "< 1 %" : `${Math.round(percent)} %`;
}

/** A cost in millionths of a US dollar: `$0.0042`. */
export function costText(millionths: number): string {
  const dollars = millionths / 1_000_000;
  if (dollars > 0 && dollars < 0.0001) return "< $0.0001";
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

/** `1 file`, `2 files`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** What a person can do about an error, after what it says itself. */
const REMEDIES: Readonly<Partial<Record<string, string>>> = {
  unauthorized: "Sign in with another key.",
  forbidden: "Ask an admin for a key with a higher role.",
  rate_limited: "Wait a moment and try again.",
  too_many_turns: "Wait until another turn has ended and try again.",
  busy: "Wait until nothing runs or waits, or stop the turn, and try again.",
  version_gone: "Restore the conversation only, or choose a later checkpoint.",
  queue_full: "Withdraw a waiting prompt, or wait.",
  budget_exceeded: "Ask an admin to raise the budget.",
  unavailable: "Check the connection and try again.",
  internal: "Try again.",
  model_auth: "Whoever runs this deployment has to correct OPENAI_API_KEY.",
  not_configured: "Ask the operator of this deployment.",
};

export function errorText({ code, message }: Pick<ErrorBody, "message"> & { code: string }): string {
  const remedy = REMEDIES[code];
  return remedy === undefined ? message : `${message} ${remedy}`;
}

export function callText(status: CallStatus): string {
  switch (status) {
    case "waiting":
      return "Waiting";
    case "asking":
      return "Needs an answer";
    case "running":
      return "Running";
    case "done":
      return "Done";
    case "failed":
      return "Failed";
  }
}

/** Arguments that somebody has written; null when they are not a JSON object. */
export function argumentsOf(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return isObject ? Object.fromEntries(Object.entries(parsed)) : null;
  } catch {
    return null;
  }
}

export function connectionText(state: ConnectionState): string {
  switch (state.status) {
    case "idle":
    case "connecting":
      return "Connecting…";
    case "catching_up":
      return "Catching up…";
    case "live":
      return "Connected";
    case "waiting":
      return "Reconnecting…";
    case "ended":
      return state.error ? errorText(state.error) : "Disconnected";
  }
}

/** Why a turn ended, unless it ended as it should or an error before it says why. */
export function stopText({ stop }: Extract<Entry, { kind: "stop" }>): string | null {
  switch (stop.reason) {
    case "stop":
    case "error":
      return null;
    case "aborted":
      return stop.message ?? "Stopped.";
    case "max_steps":
      return stop.message ?? "Stopped: the turn used up its steps. Prompt again to go on.";
    case "budget":
      return stop.message ?? "Stopped: the budget is used up.";
  }
}

/** What has gone back to an earlier point, and what has not. */
export function restoreText(entry: Extract<Entry, { kind: "restore" }>): string {
  const { toSeq, conversation, files, skipped } = entry;
  const what =
    conversation && files ? "Conversation and files" : conversation ? "The conversation" : "The files";
  const point = toSeq === 0 ? "to the beginning" : "to an earlier point";
  const left =
    skipped.length === 0
      ? ""
      : ` ${countText(skipped.length, "file")} stayed as ${skipped.length === 1 ? "it was" : "they were"}.`;
  return `${what} went back ${point}.${left}`;
}
