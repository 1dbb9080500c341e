import { toModelMessages } from "../../src/runtime/protocol/model-messages.ts";
import { Findings, eventsOf } from "./evidence.ts";
import type { SessionEvidence, Violation } from "./evidence.ts";

/** Every request that the model got was valid, and told it what the log says: prompts, results, in order. */
export function checkModel({ account, log, model, messages }: SessionEvidence): Violation[] {
  const findings = new Findings(account.session);
  for (const problem of model?.problems ?? []) findings.expect(false, "LOG-66", problem);
  const told = model?.messages ?? [];
  const prompts = eventsOf(log, "input", "steer").map(({ content: [part] }) =>
    part?.type === "text" ? part.text : "",
  );
  const shown = told.filter((message) => message.role === "user");
  shown.forEach(({ content }, at) => {
    findings.expect(
      content === prompts[at],
      "LOG-66",
      `the model was told another prompt ${at} than the log has`,
    );
  });
  const results = new Map(eventsOf(log, "tool_result").map((result) => [result.callId, result]));
  for (const message of told) {
    if (message.role !== "tool") continue;
    const result = results.get(message.tool_call_id);
    const expected = result && (result.isError ? `[error] ${result.content}` : result.content);
    const same = message.content === expected;
    findings.expect(
      same,
      "LOG-66",
      `the model was told another result of ${message.tool_call_id} than the log has`,
    );
  }
  const folded = JSON.stringify(toModelMessages(log)) === JSON.stringify(messages);
  findings.expect(folded, "LOG-66", "the conversation of the API is not the fold of the log");
  return findings.violations;
}
