import type { BashExecResult, CommandName } from "just-bash/browser";
import * as z from "zod";
import { LightAgentError, isLightAgentError } from "../../runtime/protocol/errors.ts";
import { DEFAULT_LIMITS } from "../../runtime/protocol/limits.ts";
import type { Tool, ToolResult } from "../../runtime/tool/tool.ts";
import type { FileChange } from "../../runtime/workspace/workspace.ts";
import { findOutcome } from "../found-outcome.ts";
import { block, counted, fields, joined } from "../result-text.ts";
import { defineWorkspaceTool } from "../workspace-failure.ts";
import type { WorkspaceToolContext } from "../workspace-tool-context.ts";
import { CHANGED_BYTES, FILE_BYTES, WorkspaceFs } from "./workspace-fs.ts";

/** Where the workspace's root is to a command. */
const ROOT = "/workspace";

/** The shell ends by itself before its call would be given up. */
const RUN_MS = 45_000;

const LIMITS = {
  maxExecutionTimeMs: RUN_MS,
  maxCommandCount: 50_000,
  maxOutputSize: 16 * 1024 * 1024,
  maxLiveBytes: 48 * 1024 * 1024,
  maxInputBytes: 64 * 1024 * 1024,
  maxFileSystemBytes: 16 * 1024 * 1024,
};

/** A result has room for so many characters of what the command said. */
const OUTPUT_CHARS = DEFAULT_LIMITS.toolResultBytes / 4;
const PATHS_SHOWN = 50;

/** What needs parts of Node that are not here, or says what nobody wants to know. */
const LEFT_OUT = new Set(["gzip", "gunzip", "zcat", "tar", "sqlite3", "hostname", "whoami"]);

const schema = z.object({
  command: z.string().describe("A command line or a whole script for bash."),
});

/** Runs a shell command over the workspace. Its changes are one version; there is no network and no real process. */
export function createBashTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "bash",
    description:
      `Runs a bash command or script in a simulated shell over the workspace, which is at ${ROOT}, where each call ` +
      "begins. It has the usual text tools (cat, grep, rg, sed, awk, sort, find, xargs, jq, diff …), but no network, no " +
      "installed programs, no links and no background jobs, and nothing lasts between two calls but files. All changes " +
      `of a call are made at its end, as one version. Limits: ${RUN_MS / 1000} s, files of ` +
      `${FILE_BYTES / 1024 / 1024} MiB, ${CHANGED_BYTES / 1024 / 1024} MiB changed, ${OUTPUT_CHARS} characters shown.`,
    schema,
    async execute({ command }, context) {
      const { workspace, signal } = context;
      const files = await WorkspaceFs.open(workspace, Date.now);
      const result = await run(command, files, signal);
      // What a stopped command has done so far is nothing that anybody wants.
      signal.throwIfAborted();
      const changes = await files.changes();
      requireSize(changes);
      const changed = changes.length === 0 ? null : await workspace.change(changes);
      return report(result, changed);
    },
    findOutcome,
  });
}

async function run(command: string, files: WorkspaceFs, signal: AbortSignal): Promise<BashExecResult> {
  // Large, and few turns need it.
  const { Bash, InMemoryFs, MountableFs, getCommandNames } = await import("just-bash/browser");
  const base = new InMemoryFs({}, { maxTotalBytes: LIMITS.maxFileSystemBytes });
  const commands = getCommandNames().filter((name) => !LEFT_OUT.has(name)) as CommandName[];
  const shell = new Bash({
    fs: new MountableFs({ base, mounts: [{ mountPoint: ROOT, filesystem: files }] }),
    cwd: ROOT,
    env: { HOME: "/tmp", PWD: ROOT },
    commands,
    executionLimits: LIMITS,
    defenseInDepth: false,
  });
  try {
    return await shell.exec(command, { signal });
  } catch (caught) {
    // What the shell's own commands do not report ends the script; what it had done before stands.
    if (isLightAgentError(caught) || signal.aborted) throw caught;
    const stderr = caught instanceof Error ? caught.message : String(caught);
    return { stdout: "", stderr, exitCode: 1, env: {} };
  }
}

function requireSize(changes: readonly FileChange[]): void {
  const bytes = changes.reduce((sum, change) => sum + (change.kind === "write" ? change.bytes.length : 0), 0);
  if (bytes <= CHANGED_BYTES) return;
  const message = `The command changed ${bytes} bytes, more than one call may, so nothing was changed.`;
  throw new LightAgentError("file_too_large", message, { maxBytes: CHANGED_BYTES });
}

function report(
  { stdout, stderr, exitCode }: BashExecResult,
  changed: { readonly version: number; readonly paths: readonly string[] } | null,
): ToolResult {
  const paths = changed?.paths ?? [];
  const left = paths.length - PATHS_SHOWN;
  const content = joined(
    fields(["exit_code", exitCode], ["changed", changed ? counted(paths.length, "file") : undefined]),
    paths.length > 0
      ? block("changed_paths", [...paths.slice(0, PATHS_SHOWN), ...(left > 0 ? [`and ${left} more`] : [])])
      : undefined,
    stdout === "" ? undefined : block("stdout", [shown(stdout)]),
    stderr === "" ? undefined : block("stderr", [shown(stderr)]),
  );
  return { content, ...(changed ? { workspaceVersion: changed.version } : {}) };
}

/** The beginning and the end of a text that is too long: errors stand at the end. */
function shown(text: string): string {
  const whole = text.endsWith("\n") ? text.slice(0, -1) : text;
  if (whole.length <= OUTPUT_CHARS) return whole.toWellFormed();
  const half = Math.floor(OUTPUT_CHARS / 2);
  const between = `\n… ${whole.length - 2 * half} characters left out …\n`;
  return (whole.slice(0, half) + between + whole.slice(-half)).toWellFormed();
}
