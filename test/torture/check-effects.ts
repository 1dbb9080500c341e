import type { DurableEvent, ToolCall } from "../../src/runtime/protocol/durable-events.ts";
import { Findings, eventsOf } from "./evidence.ts";
import type { SessionEvidence, VersionEntry, Violation, WorkspaceEvidence } from "./evidence.ts";
import { NOTES } from "./plan.ts";

/** Codes of results that say: nothing was changed. */
const WITHOUT_EFFECT = new Set([
  "denied",
  "edit_no_match",
  "invalid_arguments",
  "malformed_arguments",
  "not_executed",
  "path_escape",
  "unknown_tool",
  "write_conflict",
  "write_fenced",
]);

interface Call {
  readonly call: ToolCall;
  readonly started: boolean;
  readonly result: DurableEvent<"tool_result"> | undefined;
}

/** What tools have done to a workspace is what its sessions' logs say: each effect once, none unaccounted for. */
export function checkEffects(workspace: WorkspaceEvidence): Violation[] {
  const findings = new Findings(workspace.sessions[0]?.account.session ?? workspace.id);
  const calls = new Map<string, Call>();
  for (const session of workspace.sessions) {
    for (const [key, call] of callsOf(session)) calls.set(key, call);
  }
  const versions = new Map<string, VersionEntry[]>();
  for (const version of workspace.versions) {
    if (version.callId === undefined) continue;
    const key = `${version.session}/${version.callId}`;
    versions.set(key, [...(versions.get(key) ?? []), version]);
    findings.expect(calls.has(key), "LOG-63", `version ${version.version} is of ${key}, which no log has`);
  }
  for (const [key, call] of calls) checkCall(findings, key, call, versions.get(key) ?? []);
  checkFiles(findings, workspace, calls);
  return findings.violations;
}

/** The calls of a session as they were run: a person may have replaced the arguments. */
function callsOf({ account, log }: SessionEvidence): Map<string, Call> {
  const started = new Set(eventsOf(log, "tool_call_start").map(({ callId }) => callId));
  const results = new Map(eventsOf(log, "tool_result").map((result) => [result.callId, result]));
  const replaced = new Map(eventsOf(log, "approval_resolved").map(({ callId, args }) => [callId, args]));
  const calls = eventsOf(log, "tool_calls").flatMap((event) => event.calls);
  return new Map(
    calls.map((call) => [
      `${account.session}/${call.id}`,
      {
        call: { ...call, args: replaced.get(call.id) ?? call.args },
        started: started.has(call.id),
        result: results.get(call.id),
      },
    ]),
  );
}

function checkCall(findings: Findings, key: string, one: Call, versions: readonly VersionEntry[]): void {
  const { call, started, result } = one;
  const changes = call.name === "write_file" || call.name === "edit_file";
  const count = versions.length;
  findings.expect(count <= 1, "LOG-63", `call ${key} took effect ${count} times`);
  findings.expect(started || count === 0, "LOG-63", `call ${key} never began and took effect`);
  const [version] = versions;
  if (changes && result && !result.isError) {
    const same = version !== undefined && result.workspaceVersion === version.version;
    findings.expect(
      same,
      "LOG-63",
      `call ${key} says version ${result.workspaceVersion}, made ${version?.version}`,
    );
  }
  const none = result?.code !== undefined && WITHOUT_EFFECT.has(result.code);
  findings.expect(!none || count === 0, "LOG-63", `call ${key} says ${result?.code} and took effect`);
  if (version) {
    const paths = JSON.stringify(version.paths);
    findings.expect(paths === JSON.stringify([call.args["path"]]), "LOG-63", `call ${key} changed ${paths}`);
  }
}

/** The files are what their versions, played in order, make of them. */
function checkFiles(
  findings: Findings,
  workspace: WorkspaceEvidence,
  calls: ReadonlyMap<string, Call>,
): void {
  const expected = new Map<string, string>([[NOTES, "START\nEND\n"]]);
  for (const { session, callId } of workspace.versions) {
    const made = calls.get(`${session}/${callId}`);
    if (!made) continue;
    const { name, args } = made.call;
    const path = String(args["path"]);
    if (name === "write_file") expected.set(path, String(args["content"]));
    const edits = (args["edits"] ?? []) as { old: string; new: string }[];
    for (const edit of edits)
      expected.set(
        path,
        (expected.get(path) ?? "").replace(edit.old, () => edit.new),
      );
  }
  const count = workspace.versions.at(-1)?.files;
  findings.expect(
    count === expected.size,
    "LOG-63",
    `${workspace.id} has ${count} files, not ${expected.size}`,
  );
  for (const [path, text] of expected) {
    const is = workspace.files.get(path);
    findings.expect(
      is === text,
      "LOG-63",
      `${path} of ${workspace.id} is ${shown(is)} in place of ${shown(text)}`,
    );
  }
}

function shown(text: string | undefined): string {
  return text === undefined ? "missing" : JSON.stringify(text.slice(-300));
}
