import type { DecisionBody } from "../../src/runtime/protocol/frames.ts";
import type { SentDecision } from "./account.ts";
import { Findings, eventsOf } from "./evidence.ts";
import type { SessionEvidence, Violation } from "./evidence.ts";

/** What a person was told to have decided is what was decided; a denied call has no result but its denial. */
export function checkPeople({ account, log }: SessionEvidence): Violation[] {
  const findings = new Findings(account.session);
  const approvals = new Map(eventsOf(log, "approval_resolved").map((event) => [event.approvalId, event]));
  for (const { id, said, confirmed, by } of account.decisions) {
    if (!confirmed) continue;
    const resolved = approvals.get(id);
    const { decision, args } = said as DecisionBody;
    findings.expect(
      resolved?.decision === decision,
      "LOG-67",
      `${by}'s ${decision} of ${id} was confirmed, the log says ${resolved?.decision}`,
    );
    // Without arguments of their own a decision agrees with any of its kind.
    const same = args === undefined || JSON.stringify(resolved?.args) === JSON.stringify(args);
    findings.expect(same, "LOG-67", `${by}'s arguments for ${id} were confirmed and are not in the log`);
  }
  const answers = new Map(eventsOf(log, "input_resolved").map((event) => [event.inputId, event]));
  for (const { id, said, confirmed, by } of account.answers) {
    if (!confirmed) continue;
    const same = JSON.stringify(answers.get(id)?.answer) === JSON.stringify(said);
    findings.expect(same, "LOG-67", `${by}'s answer to ${id} was confirmed and is not in the log`);
  }
  checkGates(findings, [...account.decisions, ...account.answers], { approvals, answers });
  return findings.violations;
}

/** Nobody but those who were asked has decided anything. */
function checkGates(
  findings: Findings,
  said: readonly SentDecision[],
  {
    approvals,
    answers,
  }: {
    readonly approvals: ReadonlyMap<string, { readonly decision: string }>;
    readonly answers: ReadonlyMap<string, { readonly cancelled?: boolean | undefined }>;
  },
): void {
  const asked = new Set(said.map(({ id }) => id));
  for (const [id, { decision }] of approvals) {
    const byPerson = decision === "allow" || decision === "deny";
    findings.expect(!byPerson || asked.has(id), "LOG-67", `nobody decided ${id}, the log says ${decision}`);
  }
  for (const [id, { cancelled }] of answers) {
    findings.expect(cancelled === true || asked.has(id), "LOG-67", `nobody answered ${id}`);
  }
}
