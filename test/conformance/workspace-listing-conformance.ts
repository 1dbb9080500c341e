import { expect, it } from "vitest";
import type { Listing } from "../../src/runtime/workspace/workspace.ts";
import type { MakeWorkspaceSource } from "./workspace-steps.ts";
import { refuses, rest, write } from "./workspace-steps.ts";

/** The order and the bounds of listings, and what they hide. */
export function describeListing(makeSource: MakeWorkspaceSource): void {
  const names = ({ entries }: Listing) =>
    entries.map((entry) => (entry.kind === "file" ? entry.path : `${entry.path}/`));

  it("[FILE-9] lists directories first, then names by code units, depth first", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, {
      "b/x": "",
      "a/z/1": "",
      "a/y": "",
      B: "",
      a1: "",
      "a-": "",
      "\uFF5E": "",
      "😀": "",
      é: "",
    });
    const all = await workspace.list("", { depth: 9, limit: 100 });
    expect(names(all)).toEqual([
      "a/",
      "a/z/",
      "a/z/1",
      "a/y",
      "b/",
      "b/x",
      "B",
      "a-",
      "a1",
      "é",
      "😀",
      "\uFF5E",
    ]);
    expect(all.entries[0]).toEqual({ kind: "directory", path: "a", files: 2 });
    expect(all.entries.at(-1)).toEqual(await workspace.stat("\uFF5E"));
    expect(names(await workspace.list("a", { depth: 9, limit: 100 }))).toEqual(["a/z/", "a/z/1", "a/y"]);
    await refuses(workspace.list("B", { depth: 1, limit: 10 }), "invalid_path");
    await refuses(workspace.list("", { depth: 0, limit: 10 }), "invalid_request");
    await refuses(workspace.list("", { depth: 1, limit: -1 }), "invalid_request");
  });

  it("[FILE-9] counts the files that depth and limit leave out, and lets upper levels go first", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, { "a/1": "", "a/2": "", "a/b/3": "", "c/4": "", z: "" });
    const flat = await workspace.list("", { depth: 1, limit: 100 });
    expect(names(flat)).toEqual(["a/", "c/", "z"]);
    expect(flat.omitted).toBe(4);
    const short = await workspace.list("", { depth: 9, limit: 4 });
    expect(names(short)).toEqual(["a/", "a/b/", "c/", "z"]);
    expect(short.omitted).toBe(4);
    expect(await workspace.list("", { depth: 9, limit: 0 })).toEqual({ entries: [], omitted: 5, ignored: 0 });
    expect(await workspace.list("a", { depth: 9, limit: 100 })).toMatchObject({ omitted: 0 });
  });

  it("[FILE-10] hides what the ignore files name, unless it is asked for", async () => {
    const workspace = (await makeSource()).open(rest);
    await write(workspace, {
      ".gitignore": "dist/\n*.log\n!keep.log\n",
      ".git/config": "",
      "dist/out.js": "",
      "node_modules/zod/index.js": "",
      "node_modules/zod/.gitignore": "*",
      "src/a.log": "",
      "src/keep.log": "",
      "src/main.ts": "",
      "src/gen/.gitignore": "*\n!.gitignore\n",
      "src/gen/x.ts": "",
    });
    const listed = await workspace.list("", { depth: 9, limit: 100, hideIgnored: true });
    expect(names(listed)).toEqual([
      "src/",
      "src/gen/",
      "src/gen/.gitignore",
      "src/keep.log",
      "src/main.ts",
      ".gitignore",
    ]);
    expect([listed.omitted, listed.ignored]).toEqual([0, 6]);
    const inside = await workspace.list("node_modules/zod", { depth: 9, limit: 100, hideIgnored: true });
    expect(names(inside)).toEqual(["node_modules/zod/.gitignore", "node_modules/zod/index.js"]);
    expect((await workspace.list("", { depth: 9, limit: 100 })).entries).toHaveLength(16);
  });
}
