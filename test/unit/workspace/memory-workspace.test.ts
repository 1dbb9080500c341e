import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { MemoryWorkspaceSource } from "../../../src/runtime/workspace/memory-workspace.ts";
import type { FileChange, Workspace } from "../../../src/runtime/workspace/workspace.ts";
import { describeWorkspace } from "../../conformance/workspace-conformance.ts";
import { allPaths, bytesOf, refuses, rest, textAt, write } from "../../conformance/workspace-steps.ts";

describeWorkspace("MemoryWorkspaceSource", async () => new MemoryWorkspaceSource());

describe("MemoryWorkspaceSource", () => {
  it("[FILE-3] takes the time of a change from its clock", async () => {
    const workspace = new MemoryWorkspaceSource({ clock: () => 1_234 }).open(rest);
    await write(workspace, { a: "1" });
    expect(await workspace.stat("a")).toMatchObject({ modifiedAt: 1_234 });
  });

  it("[FILE-2] refuses what is larger than the limits allow, and never what frees room", async () => {
    const source = new MemoryWorkspaceSource({
      limits: { fileBytes: 4, workspaceFiles: 2, workspaceBytes: 6 },
    });
    const workspace = source.open(rest);
    await refuses(write(workspace, { a: "12345" }), "file_too_large");
    await refuses(write(workspace, { a: "", b: "", c: "" }), "workspace_full");
    await refuses(write(workspace, { a: "1234", b: "123" }), "workspace_full");
    expect(await workspace.version()).toBe(0);
    await write(workspace, { a: "1234", b: "12" });
    await workspace.change([
      { kind: "delete", path: "a" },
      { kind: "write", path: "c", bytes: bytesOf("123") },
    ]);
    await write(workspace, { c: "1" });
    expect(await allPaths(workspace)).toEqual(["b", "c"]);
  });
});

/** A step of one of two writers; a conditional write expects what that writer saw last. */
type Step =
  | { readonly kind: "read"; readonly writer: number; readonly path: string }
  | { readonly kind: "write"; readonly writer: number; readonly path: string; readonly conditional: boolean }
  | { readonly kind: "delete"; readonly writer: number; readonly path: string }
  | { readonly kind: "move"; readonly writer: number; readonly path: string; readonly to: string };

const path = fc.constantFrom("a", "b", "d/a", "d/b", "d/e/a", "d", "d/e", "f/a");
const writer = fc.constantFrom(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("read" as const), writer, path }),
  fc.record({ kind: fc.constant("write" as const), writer, path, conditional: fc.boolean() }),
  fc.record({ kind: fc.constant("delete" as const), writer, path }),
  fc.record({ kind: fc.constant("move" as const), writer, path, to: path }),
);

/** The same in a plain map: the new state, or null where the change cannot be made. */
function expected(
  files: ReadonlyMap<string, string>,
  change: Step,
  text: string,
): Map<string, string> | null {
  const next = new Map(files);
  const below = [...files.keys()].filter(
    (file) => file === change.path || file.startsWith(`${change.path}/`),
  );
  const blocked = (target: string): boolean =>
    [...files.keys()].some((file) => target.startsWith(`${file}/`));
  if (change.kind === "write") {
    if (below.some((file) => file !== change.path) || blocked(change.path)) return null;
    return next.set(change.path, text);
  }
  if (below.length === 0) return null;
  for (const file of below) next.delete(file);
  if (change.kind === "move") {
    const { to } = change;
    const taken = [...files.keys()].some((file) => file === to || file.startsWith(`${to}/`));
    if (taken || blocked(to) || to.startsWith(`${change.path}/`)) return null;
    for (const file of below) next.set(to + file.slice(change.path.length), files.get(file) ?? "");
  }
  return next;
}

function toChange(change: Step, text: string, ifMatch: string | null | undefined): FileChange {
  if (change.kind === "move") return { kind: "move", from: change.path, to: change.to };
  if (change.kind === "delete") return { kind: "delete", path: change.path };
  return {
    kind: "write",
    path: change.path,
    bytes: bytesOf(text),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  };
}

async function contents(workspace: Workspace): Promise<Map<string, string>> {
  const result = new Map<string, string>();
  for (const file of (await allPaths(workspace)).toSorted()) result.set(file, await textAt(workspace, file));
  return result;
}

describe("two writers", () => {
  it("[FILE-4] leave what a plain map would hold, or hear of the conflict", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const source = new MemoryWorkspaceSource();
        const writers = [source.open(rest), source.open(rest)] as const;
        const seen = [new Map<string, string | null>(), new Map<string, string | null>()] as const;
        let files: Map<string, string> = new Map();
        let version = 0;
        for (const [index, next] of steps.entries()) {
          const workspace = writers[next.writer === 0 ? 0 : 1];
          const known = seen[next.writer === 0 ? 0 : 1];
          if (next.kind === "read") {
            const there = await workspace.stat(next.path);
            known.set(next.path, there?.kind === "file" ? there.sha256 : null);
            continue;
          }
          const text = `text ${index}`;
          const ifMatch =
            next.kind === "write" && next.conditional ? (known.get(next.path) ?? null) : undefined;
          const there = await workspace.stat(next.path);
          const current = there?.kind === "file" ? there.sha256 : null;
          const conflict = ifMatch !== undefined && (ifMatch !== current || there?.kind === "directory");
          const after = conflict ? null : expected(files, next, text);
          const outcome = await workspace
            .change([toChange(next, text, ifMatch)])
            .catch((caught: unknown) => caught);
          if (after === null) {
            expect(isLightAgentError(outcome)).toBe(true);
            if (conflict) expect(outcome).toMatchObject({ code: "write_conflict" });
          } else {
            version += 1;
            expect(outcome).toMatchObject({ version });
            files = after;
          }
        }
        const sorted = new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
        expect([...(await contents(writers[0]))]).toEqual([...sorted]);
        expect(await writers[1].version()).toBe(version);
        // Every earlier version is still what it was.
        if (version > 0) expect((await contents(source.open({ ...rest, atVersion: 0 }))).size).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
