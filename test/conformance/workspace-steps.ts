import { expect } from "vitest";
import type { ErrorCode } from "../../src/runtime/protocol/errors.ts";
import { SYSTEM } from "../../src/runtime/protocol/principal.ts";
import type { Workspace } from "../../src/runtime/workspace/workspace.ts";
import type { OpenWorkspace, WorkspaceSource } from "../../src/runtime/workspace/workspace-source.ts";

/** Opens a workspace that nobody has used. */
export type MakeWorkspaceSource = () => Promise<WorkspaceSource>;

/** A writer over REST. */
export const rest: OpenWorkspace = { writer: { by: SYSTEM } };

/** A writer that is a call of a session. */
export function call(session: string, turn: number, wakes: number, callId = "call_1_1_0"): OpenWorkspace {
  return { writer: { by: SYSTEM, source: { session, turn, wakes, callId } } };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Writes files of text as one change; answers with its version. */
export async function write(workspace: Workspace, files: Readonly<Record<string, string>>): Promise<number> {
  const changes = Object.entries(files).map(
    ([path, text]) => ({ kind: "write", path, bytes: bytesOf(text) }) as const,
  );
  return (await workspace.change(changes)).version;
}

export async function textAt(workspace: Workspace, path: string): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true, fatal: false }).decode(
    (await workspace.read(path)).bytes,
  );
}

/** The paths of all files, in the order of a listing. */
export async function allPaths(workspace: Workspace): Promise<string[]> {
  const { entries } = await workspace.list("", { depth: 1_000, limit: 100_000 });
  return entries.filter((entry) => entry.kind === "file").map(({ path }) => path);
}

/** Expects an error with this code. */
export function refuses(work: Promise<unknown>, code: ErrorCode): Promise<void> {
  return expect(work).rejects.toMatchObject({ code });
}
