import { beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../src/runtime/protocol/sha256.ts";
import { Product } from "./product.ts";

const MIB = 1024 * 1024;

let product: Product;
beforeAll(async () => {
  product = await Product.create();
  await product.call("POST", "/v1/workspaces", { id: "w", name: "Files" });
});

const file = (path: string, workspace = "w"): string => `/v1/workspaces/${workspace}/files/${path}`;

async function put(path: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return product.fetch(file(path), { method: "PUT", body, headers });
}

/** A body without a length. */
function inChunks(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 1_000_000)
        controller.enqueue(bytes.slice(at, at + 1_000_000));
      controller.close();
    },
  });
}

async function codeOf(response: Response): Promise<unknown> {
  const { error } = await response.json<{ error?: { code: string } }>();
  return [response.status, error?.code];
}

async function textOf(response: Response): Promise<string> {
  return new TextDecoder().decode(await response.arrayBuffer());
}

interface VersionPage {
  readonly data: readonly { readonly version: number }[];
  readonly next: string | null;
}

describe("workspaces over HTTP", () => {
  it("[FILE-48] a workspace is created, shown, listed and deleted, and its id never comes back", async () => {
    const made = await product.call("POST", "/v1/workspaces", { id: "w1", name: "One" });
    expect(made).toMatchObject({
      status: 201,
      body: { id: "w1", name: "One", version: 0, files: 0, bytes: 0 },
    });
    expect((await product.call("GET", "/v1/workspaces/w1")).body).toEqual(made.body);
    expect((await product.call("POST", "/v1/workspaces", { id: "w1", name: "One" })).status).toBe(409);
    expect((await product.call("POST", "/v1/workspaces", { id: "w1", name: "Two" })).status).toBe(409);
    const unnamed = await product.call("POST", "/v1/workspaces", {});
    expect(unnamed.body).toMatchObject({ id: expect.stringMatching(/^[A-Za-z0-9_-]+$/) });
    const { body } = await product.call<{ data: { id: string }[] }>("GET", "/v1/workspaces");
    expect(body.data.map(({ id }) => id)).toEqual(expect.arrayContaining(["w", "w1"]));
    expect((await product.call("DELETE", "/v1/workspaces/w1")).status).toBe(202);
    expect((await product.call("GET", "/v1/workspaces/w1")).status).toBe(404);
    expect((await product.fetch(file("a", "w1"))).status).toBe(404);
    expect((await product.call("POST", "/v1/workspaces", { id: "w1", name: "One" })).status).toBe(409);
    const listed = await product.call<{ data: { id: string }[] }>("GET", "/v1/workspaces");
    expect(listed.body.data.map(({ id }) => id)).not.toContain("w1");
  });

  it("[FILE-48] the same Idempotency-Key makes one workspace", async () => {
    const headers = { "idempotency-key": "once", "content-type": "application/json" };
    const create = async (name: string) =>
      product.fetch("/v1/workspaces", { method: "POST", headers, body: JSON.stringify({ name }) });
    const [first, second] = [await create("N"), await create("N")];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await second.json()).toEqual(await first.json());
    expect(await codeOf(await create("M"))).toEqual([409, "idempotency_mismatch"]);
  });

  it("[FILE-30] files of every size go up and come down through the Worker", async () => {
    const pattern = Uint8Array.from({ length: 251 * 4_000 }, (_, index) => index % 251);
    for (const size of [0, 5, 3 * MIB, 7 * MIB + 5]) {
      const bytes = new Uint8Array(size);
      for (let at = 0; at < size; at += pattern.length) bytes.set(pattern.subarray(0, size - at), at);
      const sha256 = await sha256Hex(bytes);
      const made = await put(`sizes/${size}`, bytes);
      expect([made.status, await made.json()]).toEqual([201, expect.objectContaining({ size, sha256 })]);
      // The same once more, in chunks without a length.
      const chunked = await put(`sizes/${size}-chunked`, inChunks(bytes));
      expect(await chunked.json()).toMatchObject({ size, sha256 });
      const got = await product.fetch(file(`sizes/${size}`));
      expect([got.headers.get("etag"), got.headers.get("content-length")]).toEqual([
        `"${sha256}"`,
        `${size}`,
      ]);
      expect(await sha256Hex(new Uint8Array(await got.arrayBuffer()))).toBe(sha256);
    }
    const range = await product.fetch(file("sizes/5"), { headers: { range: "bytes=1-2" } });
    expect([
      range.status,
      range.headers.get("content-range"),
      [...new Uint8Array(await range.arrayBuffer())],
    ]).toEqual([206, "bytes 1-2/5", [1, 2]]);
    const head = await product.fetch(file("sizes/5"), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await textOf(head)]).toEqual([200, "5", ""]);
  });

  it("[FILE-29] conditions hold through the Worker", async () => {
    const etag = (await put("condition", "1", { "if-none-match": "*" })).headers.get("etag") ?? "";
    expect(await codeOf(await put("condition", "2", { "if-none-match": "*" }))).toEqual([
      412,
      "precondition_failed",
    ]);
    const cached = await product.fetch(file("condition"), { headers: { "if-none-match": etag } });
    expect([cached.status, await textOf(cached)]).toEqual([304, ""]);
    expect((await put("condition", "2", { "if-match": etag })).status).toBe(200);
    const remove = await product.fetch(file("condition"), {
      method: "DELETE",
      headers: { "if-match": etag },
    });
    expect(await codeOf(remove)).toEqual([412, "precondition_failed"]);
    expect((await product.fetch(file("condition"), { method: "DELETE" })).status).toBe(200);
    expect(await codeOf(await product.fetch(file("condition")))).toEqual([404, "path_not_found"]);
  });

  it("[FILE-27] a folder is listed, with or without a slash at its end, and the root too", async () => {
    await put("folder/a.txt", "a");
    await put("folder/sub/b.txt", "b");
    for (const path of ["folder", "folder/"]) {
      const { body } = await product.call<{ entries: unknown[] }>("GET", file(path));
      expect(body).toMatchObject({
        entries: [{ path: "folder/sub", files: 1 }, { path: "folder/a.txt" }],
        omitted: 1,
      });
    }
    for (const path of ["", "?depth=1&limit=1"]) {
      expect((await product.call("GET", file(path))).body).toHaveProperty("entries");
    }
    expect((await product.call("GET", "/v1/workspaces/w/files")).body).toHaveProperty("entries");
    expect((await product.call("GET", file("folder?depth=0"))).status).toBe(400);
    expect((await product.call("GET", file("folder?colour=red"))).status).toBe(400);
    expect(await codeOf(await put("folder", "x"))).toEqual([409, "is_directory"]);
    expect(await codeOf(await put("folder/a.txt/x", "x"))).toEqual([400, "invalid_path"]);
  });

  it("[FILE-32] paths in every disguise are refused or name the same file", async () => {
    const refused =
      "..%2fx %2e%2e%2fx %252e%252e/x a%5c..%5cb a%00 /a a//b %2e%2f a%2f..%2fb a%2f a%0ab %E2%80%AEa %ED%A0%80 %ff";
    for (const path of [...refused.split(" "), "x".repeat(256), `${"x/".repeat(520)}x`]) {
      for (const method of ["PUT", "DELETE"]) {
        const response = await product.fetch(file(path), { method, ...(method === "PUT" && { body: "x" }) });
        expect([path, method, await codeOf(response)]).toEqual([path, method, [400, "invalid_path"]]);
      }
    }
    expect((await put("caf%C3%A9", "composed")).status).toBe(201);
    expect((await put("cafe%CC%81", "decomposed")).status).toBe(200);
    expect(await textOf(await product.fetch(file("caf%C3%A9")))).toBe("decomposed");
    expect((await put("enc%6Fded%2Fpath", "x")).status).toBe(201);
    expect(await textOf(await product.fetch(file("encoded/path")))).toBe("x");
    expect((await put("trailing.", "1")).status).toBe(201);
    expect((await put("trailing.%20", "2")).status).toBe(201);
    expect(await textOf(await product.fetch(file("trailing.")))).toBe("1");
    // The URL's parser goes up before anything is looked at: this is another resource, not another workspace's file.
    expect((await put("../../w10/files/x", "x")).status).toBe(404);
  });

  it("[FILE-49] files are searched", async () => {
    await put("search/one.ts", "export const needle = 1;\n");
    await put("search/two.md", "no such thing");
    const search = (body: unknown) => product.call("POST", "/v1/workspaces/w/search", body);
    expect(await search({ kind: "grep", pattern: "need[l]e", path: "search", context: 1 })).toEqual({
      status: 200,
      body: {
        more: false,
        matches: [
          { path: "search/one.ts", line: 1, text: "export const needle = 1;", before: [], after: [] },
        ],
      },
    });
    expect((await search({ kind: "glob", pattern: "search/*.md" })).body).toMatchObject({
      paths: ["search/two.md"],
    });
    const bad: [unknown, string][] = [
      [{ kind: "grep", pattern: "(" }, "invalid_pattern"],
      [{ kind: "grep", pattern: "x", path: "../x" }, "invalid_path"],
      [{ kind: "grep", pattern: "x", path: "nothing" }, "path_not_found"],
      [{ kind: "sed", pattern: "x" }, "invalid_request"],
      [{ kind: "grep", pattern: "x", limit: 10_001 }, "invalid_request"],
      [{ kind: "grep", pattern: "x", colour: "red" }, "invalid_request"],
    ];
    for (const [body, code] of bad) expect(await search(body)).toMatchObject({ body: { error: { code } } });
  });

  it("[FILE-50] versions are listed in pages, and the whole goes back to one", async () => {
    await product.call("POST", "/v1/workspaces", { id: "history" });
    for (const text of ["1", "22", "333"]) {
      await product.fetch(file("a", "history"), {
        method: "PUT",
        body: text,
        headers: { "x-user-id": "ann" },
      });
    }
    const path = "/v1/workspaces/history/versions";
    const first = await product.call<VersionPage>("GET", `${path}?limit=2`);
    const by = { kind: "user", id: "ann" };
    expect(first.body.data).toMatchObject([
      { version: 3, paths: ["a"], changes: 1, files: 1, bytes: 3, by },
      { version: 2, by },
    ]);
    const second = await product.call<VersionPage>("GET", `${path}?limit=2&cursor=${first.body.next}`);
    expect(second.body).toMatchObject({ data: [{ version: 1 }], next: null });
    expect((await product.call("GET", `${path}?cursor=x`)).status).toBe(400);
    expect((await product.call("GET", `${path}?branch=none`)).status).toBe(404);
    const restored = await product.call("POST", "/v1/workspaces/history/restore", { version: 1 });
    expect(restored).toEqual({ status: 200, body: { version: 4, paths: ["a"] } });
    expect(await textOf(await product.fetch(file("a", "history")))).toBe("1");
    expect((await product.call("POST", "/v1/workspaces/history/restore", { version: 9 })).status).toBe(400);
    expect((await product.call("POST", "/v1/workspaces/history/restore", {})).status).toBe(400);
  });

  it("[FILE-51] another tenant's workspace is like one that does not exist, on every route", async () => {
    const other = await Product.create();
    await put("secret", "of the first tenant");
    const calls: [string, string, unknown?][] = [
      ["GET", "/v1/workspaces/w"],
      ["DELETE", "/v1/workspaces/w"],
      ["GET", file("secret")],
      ["DELETE", file("secret")],
      ["GET", "/v1/workspaces/w/versions"],
      ["POST", "/v1/workspaces/w/search", { kind: "grep", pattern: "first" }],
      ["POST", "/v1/workspaces/w/restore", { version: 0 }],
    ];
    for (const [method, path, body] of calls) {
      const unknown = path.replace("/w/", "/never/").replace(/\/w$/, "/never");
      const [theirs, none] = [await other.call(method, path, body), await other.call(method, unknown, body)];
      expect([path, theirs.status, theirs.body]).toEqual([path, 404, none.body]);
    }
    expect((await other.fetch(file("secret"), { method: "PUT", body: "x" })).status).toBe(404);
    expect(await textOf(await product.fetch(file("secret")))).toBe("of the first tenant");
    await other.call("POST", "/v1/workspaces", { id: "w" });
    await other.fetch(file("secret"), { method: "PUT", body: "of the second" });
    expect(await textOf(await product.fetch(file("secret")))).toBe("of the first tenant");
    expect(await textOf(await other.fetch(file("secret")))).toBe("of the second");
  });
});
