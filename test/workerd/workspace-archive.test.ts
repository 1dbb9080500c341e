import { packTar, unpackTar } from "modern-tar";
import type { TarEntry, TarHeader } from "modern-tar";
import { beforeAll, describe, expect, it } from "vitest";
import { Product, freshName } from "./product.ts";
import { inWorkspace, texts } from "./workspace-rig.ts";

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

async function workspace(): Promise<string> {
  const { body } = await product.call<{ id: string }>("POST", "/v1/workspaces", { id: freshName("tar") });
  return `/v1/workspaces/${body.id}`;
}

function file(name: string, body: string | Uint8Array, header: Partial<TarHeader> = {}): TarEntry {
  const size = typeof body === "string" ? new TextEncoder().encode(body).length : body.length;
  return { header: { name, size, type: "file", ...header }, body };
}

const put = (path: string, body: BodyInit | null): Promise<Response> =>
  product.fetch(`${path}/archive`, { method: "PUT", body });

/** The files of an archive that was read over HTTP. */
async function archived(path: string, query = ""): Promise<Record<string, string>> {
  const response = await product.fetch(`${path}/archive${query}`);
  if (response.status !== 200) throw new Error(await response.text());
  const entries = await unpackTar(await response.arrayBuffer(), { strict: true });
  return Object.fromEntries(entries.map(({ header, data }) => [header.name, new TextDecoder().decode(data)]));
}

async function versions(path: string): Promise<{ version: number; changes: number }[]> {
  const { body } = await product.call<{ data: { version: number; changes: number }[] }>(
    "GET",
    `${path}/versions`,
  );
  return body.data;
}

describe("an archive of a workspace", () => {
  it("[FILE-80] is imported as one version that adds and replaces, and exported as it was", async () => {
    const path = await workspace();
    await product.fetch(`${path}/files/kept.txt`, { method: "PUT", body: "kept" });
    await product.fetch(`${path}/files/a.txt`, { method: "PUT", body: "old" });
    const long = `${"folder/".repeat(30)}file.txt`;
    const files = {
      "a.txt": "new",
      empty: "",
      "ä/ö.txt": "ü",
      [long]: "deep",
      "big.bin": "x".repeat(3_000_000),
    };
    const entries = [
      { header: { name: "folder/", size: 0, type: "directory" as const } },
      ...Object.entries(files).map(([name, body]) => file(name === "a.txt" ? "./a.txt" : name, body)),
      file("a.txt", "replaced within"),
    ];
    const response = await put(path, await packTar(entries));
    expect([response.status, await response.json()]).toEqual([200, { version: 3, files: 5, changed: 5 }]);
    const again = await put(path, await packTar(entries));
    expect(await again.json()).toEqual({ version: 3, files: 5, changed: 0 });
    expect(await archived(path)).toEqual({ "kept.txt": "kept", ...files, "a.txt": "replaced within" });
    expect((await versions(path)).map(({ version, changes }) => [version, changes])).toEqual([
      [3, 5],
      [2, 1],
      [1, 1],
    ]);
    expect(Object.keys(await archived(path, "?path=folder/folder"))).toEqual([
      long.slice("folder/folder/".length),
    ]);
    const found = await product.call("POST", `${path}/search`, { kind: "grep", pattern: "deep" });
    expect(found.body).toMatchObject({ matches: [{ path: long, line: 1 }] });
  });

  it.each<[what: string, entries: TarEntry[], code: string]>([
    ["a path that leaves", [file("../a", "x")], "invalid_path"],
    ["an absolute path", [file("/a", "x")], "invalid_path"],
    [
      "a symbolic link",
      [{ header: { name: "a", size: 0, type: "symlink", linkname: "/etc" } }],
      "invalid_request",
    ],
    ["a hard link", [{ header: { name: "a", size: 0, type: "link", linkname: "b" } }], "invalid_request"],
    ["a device", [{ header: { name: "a", size: 0, type: "character-device" } }], "invalid_request"],
    ["a file in the place of a folder", [file("a", "x"), file("a/b", "x")], "invalid_path"],
    ["no file", [{ header: { name: "a/", size: 0, type: "directory" } }], "invalid_request"],
  ])("[FILE-81] with %s is refused, and nothing changes", async (_what, entries, code) => {
    const path = await workspace();
    const body = await packTar(
      [file("first.txt", "first"), ...entries].slice(
        code === "invalid_request" && entries[0]?.header.type === "directory" ? 1 : 0,
      ),
    );
    const response = await put(path, body);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code } }]);
    expect(await versions(path)).toEqual([]);
  });

  it("[FILE-81] that is cut off, damaged or none at all is refused, and nothing changes", async () => {
    const path = await workspace();
    const whole = await packTar([file("a.txt", "a".repeat(5_000)), file("b.txt", "b".repeat(5_000))]);
    const damaged = whole.slice();
    damaged[600 + 5_120] = 1;
    for (const body of [whole.slice(0, 3_000), whole.slice(0, 7_000), damaged, "not a tar", null]) {
      const response = await put(path, body);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { code: "invalid_request" } },
      ]);
    }
    expect(await versions(path)).toEqual([]);
    expect((await product.fetch(`${path}/archive?branch=none`)).status).toBe(404);
    expect((await product.fetch(`${path}/archive?path=none`)).status).toBe(404);
  });

  it("[FILE-82] is read as it comes, and beyond the limits of a workspace is refused with what it has stored swept", async () => {
    let ahead = 0;
    const clock = (): number => Date.now() + ahead;
    const limits = { workspaceFiles: 3, workspaceBytes: 10_000, fileBytes: 6_000 };
    await inWorkspace(
      async ({ enter, bucket, prefix, fire }) => {
        const { archives } = enter();
        const body = (entries: TarEntry[]) => packTar(entries).then((tar) => new Response(tar).body);
        const send = async (entries: TarEntry[]) =>
          archives.respond(
            new Request("https://workspace/archive", { method: "PUT", body: await body(entries) }),
            { kind: "key", id: "k" },
          );
        const many = Array.from({ length: 4 }, (_, index) => file(`f${index}`, String(index)));
        await expect(send(many)).rejects.toMatchObject({ code: "workspace_full" });
        const large = [file("a", "a".repeat(5_900)), file("b", "b".repeat(5_900))];
        await expect(send(large)).rejects.toMatchObject({ code: "workspace_full" });
        await expect(send([file("a", "a".repeat(6_001))])).rejects.toMatchObject({ code: "file_too_large" });
        expect((await send(many.slice(1))).status).toBe(200);
        await expect(send([file("one", "more")])).rejects.toMatchObject({ code: "workspace_full" });
        ahead = 2 * 60 * 60_000;
        await fire();
        expect(await texts(enter())).toEqual({ f1: "1", f2: "2", f3: "3" });
        expect((await bucket.list({ prefix })).objects).toHaveLength(3);
      },
      { limits, clock },
    );
  });
});
