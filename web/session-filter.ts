import type { SessionSummary } from "../client/index.ts";

type Status = SessionSummary["status"];

/** Which sessions of the list are shown. */
export interface SessionFilter {
  /** Words that the title or the agent's name has, all of them. */
  readonly text: string;
  readonly status: Status | "all";
}

export const NO_FILTER: SessionFilter = { text: "", status: "all" };

export function isFiltering({ text, status }: SessionFilter): boolean {
  return text.trim() !== "" || status !== "all";
}

/** @param statusOf how a session stands, where that is known better than the list knows it */
export function filtered(
  sessions: readonly SessionSummary[],
  { text, status }: SessionFilter,
  statusOf: (session: SessionSummary) => Status = (session) => session.status,
): SessionSummary[] {
  const words = plain(text).split(/\s+/);
  return sessions.filter((session) => {
    if (status !== "all" && statusOf(session) !== status) return false;
    const about = plain(`${session.title} ${session.agent}`);
    return words.every((word) => about.includes(word));
  });
}

/** Upper and lower case, and accents, are no difference. */
function plain(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
