import { beforeAll, describe, expect, it } from "vitest";
import { Product, freshName } from "./product.ts";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

async function workspace(files: Record<string, string | Uint8Array>): Promise<string> {
  const { body } = await product.call<{ id: string }>("POST", "/v1/workspaces", { id: freshName("many") });
  const path = `/v1/workspaces/${body.id}`;
  for (const [name, content] of Object.entries(files)) await put(path, name, content);
  return path;
}

async function put(path: string, name: string, body: string | Uint8Array): Promise<void> {
  const response = await product.fetch(`${path}/files/${name}`, { method: "PUT", body });
  if (!response.ok) throw new Error(await response.text());
}

async function paths(path: string): Promise<string[]> {
  const { body } = await product.call<{ entries: { path: string; kind: string }[] }>(
    "GET",
    `${path}/files/?depth=9`,
  );
  return body.entries.filter(({ kind }) => kind === "file").map((entry) => entry.path);
}

interface Diff {
  from: number;
  to: number;
  changes: { path: string; change: string; from?: string }[];
  more: boolean;
}

describe("many files at once", () => {
  it("[FILE-84] are deleted by path, by folder and by glob, as one version", async () => {
    const path = await workspace({ "a.txt": "a", "b/c.txt": "c", "b/d.md": "d", "e.md": "e", "f.txt": "f" });
    const doomed = { paths: ["b", "b/c.txt", "a.txt"], pattern: "*.md" };
    expect(await product.call("POST", `${path}/delete`, doomed)).toMatchObject({
      status: 200,
      body: { version: 6, paths: ["a.txt", "b/c.txt", "b/d.md", "e.md"] },
    });
    expect(await paths(path)).toEqual(["f.txt"]);
    await product.call("POST", `${path}/restore`, { version: 5 });
    expect(await paths(path)).toHaveLength(5);
  });

  it("[FILE-84] are deleted all or none", async () => {
    const path = await workspace({ "a.txt": "a" });
    const refused: [body: object, status: number, code: string][] = [
      [{ paths: ["a.txt", "none"] }, 404, "path_not_found"],
      [{ pattern: "*.none" }, 404, "path_not_found"],
      [{}, 404, "path_not_found"],
      [{ paths: ["../a"] }, 400, "invalid_path"],
      [{ paths: [] }, 400, "invalid_request"],
    ];
    for (const [body, status, code] of refused) {
      expect(await product.call("POST", `${path}/delete`, body)).toMatchObject({
        status,
        body: { error: { code } },
      });
    }
    expect(await paths(path)).toEqual(["a.txt"]);
  });
});

describe("the difference between two versions", () => {
  it("[FILE-85] names what was added, changed, moved and deleted", async () => {
    const files = { "same.txt": "same", "old.txt": "content", "gone.txt": "gone", "edited.txt": "one" };
    const path = await workspace(files);
    await put(path, "edited.txt", "two");
    await product.call("POST", `${path}/delete`, { paths: ["gone.txt", "old.txt"] });
    await put(path, "new.txt", "content");
    await put(path, "added.txt", "added");
    const { body } = await product.call<Diff>("GET", `${path}/diff?from=4&to=8`);
    expect({
      ...body,
      changes: body.changes.map(({ path: at, change, from }) => [at, change, from]),
    }).toEqual({
      from: 4,
      to: 8,
      changes: [
        ["added.txt", "added", undefined],
        ["edited.txt", "changed", undefined],
        ["gone.txt", "deleted", undefined],
        ["new.txt", "moved", "old.txt"],
      ],
      more: false,
    });
    const last = await product.call<Diff>("GET", `${path}/diff`);
    expect(last.body).toMatchObject({ from: 7, to: 8, changes: [{ path: "added.txt", change: "added" }] });
    expect((await product.call<Diff>("GET", `${path}/diff?from=8&to=4`)).body.changes).toHaveLength(4);
  });

  it("[FILE-85] is told of one file's text, and not of what is no text", async () => {
    const path = await workspace({ "a.txt": "one\ntwo\nthree\n" });
    await put(path, "a.txt", "one\n2\nthree\n");
    await put(path, "b.bin", new Uint8Array([0, 1, 2]));
    const diff = (query: string) => product.call<{ patch: string | null }>("GET", `${path}/diff?${query}`);
    const { body } = await diff("from=1&to=2&path=a.txt");
    expect(body.patch).toContain("-two\n+2\n");
    expect((await diff("from=0&to=1&path=a.txt")).body.patch).toContain("+one\n+two\n+three\n");
    expect((await diff("path=b.bin")).body.patch).toBeNull();
    expect((await diff("path=none")).status).toBe(404);
    for (const query of ["from=9&to=10", "from=-1", "from=x", "path=../a", "other=1"]) {
      expect((await diff(query)).status, query).toBe(400);
    }
  });
});
