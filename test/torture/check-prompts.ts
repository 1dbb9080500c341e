import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import type { Account, SentPrompt } from "./account.ts";
import { Findings, eventsOf } from "./evidence.ts";
import type { SessionEvidence, Violation } from "./evidence.ts";

type Entry = DurableEvent<"input"> | DurableEvent<"steer"> | DurableEvent<"prompt_dropped">;

/** The log is well formed, and each prompt came to what its sender was promised: no more, no less, in order. */
export function checkPrompts({ account, log }: SessionEvidence): Violation[] {
  const findings = new Findings(account.session);
  for (const { at, message } of checkLog(log))
    findings.expect(false, "LOG-60", `grammar at ${at}: ${message}`);
  for (const problem of account.problems) findings.expect(false, "LOG-62", problem);
  const entries = new Map(
    eventsOf(log, "input", "steer", "prompt_dropped").map((entry) => [entry.promptId, entry]),
  );
  checkOutcomes(findings, account, log, entries);
  for (const prompt of account.accepted) checkEntry(findings, prompt, entries.get(prompt.promptId));
  checkOrder(findings, account, entries);
  checkInterrupts(findings, account, log, entries);
  return findings.violations;
}

function checkOutcomes(
  findings: Findings,
  account: Account,
  log: readonly DurableEvent[],
  entries: ReadonlyMap<string, Entry>,
): void {
  const stopped = eventsOf(log, "agent_stop").flatMap(({ promptIds }) => promptIds);
  const dropped = eventsOf(log, "prompt_dropped").map(({ promptId }) => promptId);
  const outcomes = [...stopped, ...dropped];
  for (const { promptId } of account.accepted) {
    const count = outcomes.filter((id) => id === promptId).length;
    findings.expect(count === 1, "LOG-61", `accepted prompt ${promptId} has ${count} outcomes`);
  }
  for (const id of entries.keys()) {
    const sent = account.prompts.get(id);
    findings.expect(sent !== undefined, "LOG-61", `nobody sent prompt ${id}`);
    // One that was sent again may have been accepted by the try whose answer was lost.
    const refused = sent?.receipt === null && sent.refused !== null && sent.attempts === 1;
    findings.expect(!refused, "LOG-61", `prompt ${id} was refused with ${sent?.refused} and is in the log`);
  }
}

/** What the log says of an accepted prompt is what was sent, and what its receipt said. */
function checkEntry(findings: Findings, prompt: SentPrompt, entry: Entry | undefined): void {
  const { promptId, body, receipt, withdrawal } = prompt;
  if (!entry || !receipt)
    return findings.expect(false, "LOG-61", `accepted prompt ${promptId} is not in the log`);
  const opened = receipt.position === 0;
  findings.expect(
    !opened || (entry.type === "input" && entry.seq === receipt.head),
    "LOG-62",
    `prompt ${promptId} was said to run at ${receipt.head}, and is ${entry.type} at ${entry.seq}`,
  );
  const kept = withdrawal !== "acked" || (entry.type === "prompt_dropped" && entry.reason === "withdrawn");
  findings.expect(kept, "LOG-62", `withdrawn prompt ${promptId} is ${entry.type} at ${entry.seq}`);
  if (entry.type === "prompt_dropped") {
    const asked = entry.reason === "cleared" || withdrawal !== "none";
    return findings.expect(asked, "LOG-62", `nobody withdrew prompt ${promptId}`);
  }
  const [part] = entry.content;
  const same = entry.content.length === 1 && part?.type === "text" && part.text === body.text;
  findings.expect(same, "LOG-61", `prompt ${promptId} has another text in the log`);
  const mode = entry.type === "input" || entry.mode === body.mode;
  findings.expect(mode, "LOG-61", `prompt ${promptId} of mode ${body.mode} entered as ${entry.type}`);
}

/** Prompts that queue run in the order of their acceptance. */
function checkOrder(findings: Findings, account: Account, entries: ReadonlyMap<string, Entry>): void {
  const queued = account.accepted.filter(({ body }) => body.mode === "queue" || body.mode === "reject");
  const ran = queued.filter(({ promptId }) => entries.get(promptId)?.type === "input");
  for (const [index, prompt] of ran.entries()) {
    const next = ran[index + 1];
    if (!next || prompt.ackedAt === null || prompt.ackedAt > next.sentAt) continue;
    const [first, second] = [entries.get(prompt.promptId)?.seq ?? 0, entries.get(next.promptId)?.seq ?? 0];
    findings.expect(first < second, "LOG-61", `prompt ${next.promptId} ran before ${prompt.promptId}`);
  }
}

/** A stop that was confirmed has stopped its turn, and what it cleared does not run. */
function checkInterrupts(
  findings: Findings,
  account: Account,
  log: readonly DurableEvent[],
  entries: ReadonlyMap<string, Entry>,
): void {
  const stopped = new Set(eventsOf(log, "interrupt").map(({ turn }) => turn));
  for (const { body, receipt, sentAt } of account.interrupts) {
    if (!receipt?.interrupted) continue;
    const { turn } = receipt;
    findings.expect(stopped.has(turn), "LOG-62", `turn ${turn} was said to be stopped`);
    findings.expect(
      (body.turn ?? turn) === turn,
      "LOG-62",
      `turn ${turn} was stopped in place of ${body.turn}`,
    );
    if (body.clearQueue !== true) continue;
    for (const { promptId, ackedAt } of account.accepted) {
      const entry = entries.get(promptId);
      if (!entry || ackedAt === null || ackedAt > sentAt) continue;
      findings.expect(entry.turn <= turn, "LOG-62", `cleared prompt ${promptId} runs in turn ${entry.turn}`);
    }
  }
}
