import { foldSession } from "../../src/runtime/protocol/session-fold.ts";
import { Findings, eventsOf } from "./evidence.ts";
import type { SessionEvidence, Violation } from "./evidence.ts";

/** A session that came to rest shows the fold of its log, and nothing that runs or waits. */
export function checkState({ account, log, state }: SessionEvidence): Violation[] {
  const findings = new Findings(account.session);
  const { head, turn, usage, windowTokens, open } = foldSession(log);
  const { status, queued, openRequests } = state;
  const rests = status === "idle" && queued === 0 && openRequests === 0 && open === null;
  findings.expect(rests, "LOG-68", `it is ${status} with ${queued} waiting and ${openRequests} requests`);
  // The fake model fails once at most, so that only kills can end a turn.
  const failures = eventsOf(log, "error").filter(({ code }) => code !== "crash_loop");
  findings.expect(failures.length === 0, "LOG-68", `turns failed: ${JSON.stringify(failures)}`);
  const folded = JSON.stringify({ head, turn, usage, windowTokens });
  const shown = JSON.stringify({
    head: state.head,
    turn: state.turn,
    usage: state.usage,
    windowTokens: state.windowTokens,
  });
  findings.expect(shown === folded, "LOG-64", `its state is ${shown}, the fold of its log ${folded}`);
  return findings.violations;
}
