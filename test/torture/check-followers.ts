import { checkStream } from "../../src/runtime/protocol/stream-grammar.ts";
import { Findings } from "./evidence.ts";
import type { SessionEvidence, Violation } from "./evidence.ts";

/** What every client holds in the end is the log, whatever it lost on the way; and no text beside it. */
export function checkFollowers({ account, log, followers }: SessionEvidence): Violation[] {
  const findings = new Findings(account.session);
  for (const { name, view, problems, streams } of followers) {
    for (const problem of problems) findings.expect(false, "LOG-64", `${name}: ${problem}`);
    const { events, head, blocks } = view;
    findings.expect(head === log.length, "LOG-64", `${name} holds ${head} of ${log.length} events`);
    // Byte for byte: what was told before a kill is what the log says after it.
    const other = events.findIndex((event, at) => JSON.stringify(event) !== JSON.stringify(log[at]));
    const told = `${JSON.stringify(events[other])}, the log has ${JSON.stringify(log[other])}`;
    findings.expect(other === -1, "LOG-65", `${name} was told ${told}`);
    const left = blocks.map(({ text }) => text).join("");
    findings.expect(blocks.length === 0, "LOG-64", `${name} still shows ${JSON.stringify(left)}`);
    for (const stream of streams) {
      for (const { at, message } of checkStream(stream)) {
        findings.expect(false, "LOG-64", `${name}, event ${at} of a connection: ${message}`);
      }
    }
  }
  return findings.violations;
}
