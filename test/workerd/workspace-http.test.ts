import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../src/runtime/protocol/sha256.ts";
import { checkInvariants, orphans } from "./workspace-invariants.ts";
import { OVER_REST, OWNER, inWorkspace, texts, write } from "./workspace-rig.ts";
import type { Rig } from "./workspace-rig.ts";

const MIB = 1024 * 1024;

interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly branch?: string;
  readonly headers?: Record<string, string>;
  readonly body?: BodyInit;
}

async function ask(rig: Rig, { method = "GET", path = "a", branch = "main", headers = {}, body }: Ask) {
  const url = `https://workspace/files?${new URLSearchParams({ path, branch }).toString()}`;
  const request = new Request(url, { method, headers, ...(body !== undefined && { body }) });
  return rig.enter().files.respond(request, OWNER);
}

async function code(asked: Promise<Response>): Promise<unknown> {
  return asked.then(
    (response) => response.status,
    (caught: unknown) => (caught as { code?: unknown }).code,
  );
}

/** The n-th byte of every stream is n modulo 251, a prime, so that no two parts of it are alike. */
const PATTERN = Uint8Array.from({ length: 4 * MIB + 251 }, (_, index) => index % 251);

/** A stream of so many bytes, in chunks of an odd size. */
function stream(size: number, chunk = 99_991, onCancel = (): void => {}): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= size) return controller.close();
      const from = sent % 251;
      const bytes = PATTERN.slice(from, from + Math.min(chunk, size - sent));
      sent += bytes.length;
      controller.enqueue(bytes);
    },
    cancel: onCancel,
  });
}

async function textOf(asked: Response | Promise<Response>): Promise<string> {
  return new TextDecoder().decode(await (await asked).arrayBuffer());
}

const etagOf = async (text: string): Promise<string> =>
  `"${await sha256Hex(new Uint8Array(new TextEncoder().encode(text)))}"`;

describe("files over HTTP", () => {
  it("[FILE-26] what is put comes back with its hash as ETag", async () => {
    await inWorkspace(async (rig) => {
      const made = await ask(rig, { method: "PUT", path: "d/ä b.bin", body: "content" });
      const entry = await made.json();
      expect([made.status, made.headers.get("etag")]).toEqual([201, await etagOf("content")]);
      expect(entry).toMatchObject({ path: "d/ä b.bin", size: 7, version: 1 });
      const got = await ask(rig, { path: "d/ä b.bin" });
      expect([got.status, await textOf(got)]).toEqual([200, "content"]);
      expect(got.headers.get("etag")).toBe(await etagOf("content"));
      expect(got.headers.get("content-length")).toBe("7");
      expect(got.headers.get("content-type")).toBe("application/octet-stream");
      const again = await ask(rig, { method: "PUT", path: "d/ä b.bin", body: "" });
      expect([again.status, await again.json()]).toEqual([
        200,
        expect.objectContaining({ size: 0, version: 2 }),
      ]);
      expect(await textOf(ask(rig, { path: "d/ä b.bin" }))).toBe("");
      const head = await ask(rig, { method: "HEAD", path: "d/ä b.bin" });
      expect([head.status, head.headers.get("content-length"), head.body]).toEqual([200, "0", null]);
      const deleted = await ask(rig, { method: "DELETE", path: "d/ä b.bin" });
      expect(await deleted.json()).toEqual({ version: 3, paths: ["d/ä b.bin"] });
      expect(await code(ask(rig, { path: "d/ä b.bin" }))).toBe("path_not_found");
      expect(await code(ask(rig, { method: "DELETE", path: "d/ä b.bin" }))).toBe("path_not_found");
      expect(await code(ask(rig, { method: "PATCH" }))).toBe("method_not_allowed");
    });
  });

  it("[FILE-27] a folder is listed", async () => {
    await inWorkspace(async (rig) => {
      await rig
        .enter()
        .writer.change("main", OVER_REST, [write("d/a", "1"), write("d/e/f", "2"), write("g", "3")]);
      const root = await (await ask(rig, { path: "" })).json<{ entries: { path: string }[] }>();
      expect(root.entries.map(({ path }) => path)).toEqual(["d", "g"]);
      expect(root).toMatchObject({ omitted: 2 });
      const url = "https://workspace/files?path=d&depth=2&limit=2";
      const folder = await rig.enter().files.respond(new Request(url), OWNER);
      expect(await folder.json()).toMatchObject({ entries: [{ path: "d/e" }, { path: "d/a" }], omitted: 1 });
      for (const query of ["depth=0", "depth=x", "limit=-1", "limit=1.5"]) {
        const bad = rig.enter().files.respond(new Request(`https://workspace/files?path=d&${query}`), OWNER);
        expect(await code(bad)).toBe("invalid_request");
      }
    });
  });

  it("[FILE-28] every form of Range", async () => {
    await inWorkspace(async (rig) => {
      await rig.enter().writer.change("main", OVER_REST, [write("a", "0123456789"), write("empty", "")]);
      const cases: [string, number, string | null, string | null][] = [
        ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
        ["bytes=7-", 206, "789", "bytes 7-9/10"],
        ["bytes=-4", 206, "6789", "bytes 6-9/10"],
        ["bytes=-99", 206, "0123456789", "bytes 0-9/10"],
        ["bytes=5-99", 206, "56789", "bytes 5-9/10"],
        ["bytes=9-9", 206, "9", "bytes 9-9/10"],
        ["bytes=10-", 416, null, "bytes */10"],
        ["bytes=-0", 416, null, "bytes */10"],
        ["bytes=3-1", 200, "0123456789", null],
        ["bytes=0-1,3-4", 200, "0123456789", null],
        ["bytes=x-y", 200, "0123456789", null],
        ["lines=0-1", 200, "0123456789", null],
        ["bytes=-", 200, "0123456789", null],
      ];
      for (const [range, status, text, contentRange] of cases) {
        const response = await ask(rig, { headers: { range } });
        expect([range, response.status, response.headers.get("content-range")]).toEqual([
          range,
          status,
          contentRange,
        ]);
        const body = await textOf(response);
        if (text !== null) expect(body).toBe(text);
        else expect(JSON.parse(body)).toMatchObject({ error: { code: "range_not_satisfiable" } });
      }
      expect((await ask(rig, { path: "empty", headers: { range: "bytes=0-" } })).status).toBe(416);
      const current = await etagOf("0123456789");
      const ifRange = (tag: string) => ask(rig, { headers: { range: "bytes=0-3", "if-range": tag } });
      expect([(await ifRange(current)).status, (await ifRange('"other"')).status]).toEqual([206, 200]);
    });
  });

  it("[FILE-29] every form of If-Match and If-None-Match", async () => {
    await inWorkspace(async (rig) => {
      const { writer } = rig.enter();
      await writer.change("main", OVER_REST, [write("a", "1"), write("d/x", "1")]);
      const one = await etagOf("1");
      const cases: [Ask, unknown][] = [
        [{ headers: { "if-none-match": one } }, 304],
        [{ headers: { "if-none-match": `"x", W/${one}` } }, 304],
        [{ headers: { "if-none-match": "*" } }, 304],
        [{ headers: { "if-none-match": '"x"' } }, 200],
        [{ headers: { "if-match": one } }, 200],
        [{ headers: { "if-match": '"x"' } }, "precondition_failed"],
        [{ headers: { "if-match": `W/${one}` } }, "precondition_failed"],
        [{ headers: { "if-match": "unquoted" } }, "invalid_request"],
        [{ path: "none", headers: { "if-none-match": "*" } }, "path_not_found"],
        [{ method: "PUT", body: "2", headers: { "if-none-match": "*" } }, "precondition_failed"],
        [{ method: "PUT", body: "2", headers: { "if-match": '"x"' } }, "precondition_failed"],
        [{ method: "PUT", body: "2", headers: { "if-none-match": one } }, "precondition_failed"],
        [{ method: "PUT", body: "2", headers: { "if-match": "" } }, "invalid_request"],
        [{ method: "PUT", path: "none", body: "2", headers: { "if-match": "*" } }, "precondition_failed"],
        [{ method: "PUT", path: "d", body: "2", headers: { "if-none-match": "*" } }, "is_directory"],
        [{ method: "DELETE", headers: { "if-match": '"x"' } }, "precondition_failed"],
        [{ method: "DELETE", path: "none", headers: { "if-match": one } }, "path_not_found"],
        [{ method: "DELETE", path: "d", headers: { "if-match": one } }, "precondition_failed"],
      ];
      for (const [request, expected] of cases)
        expect([request, await code(ask(rig, request))]).toEqual([request, expected]);
      expect(await texts(rig.enter())).toEqual({ a: "1", "d/x": "1" });
      expect(rig.keeper.state().version).toBe(1);
      expect(await code(ask(rig, { method: "PUT", body: "2", headers: { "if-match": `"x", ${one}` } }))).toBe(
        200,
      );
      expect(
        await code(ask(rig, { method: "PUT", path: "b", body: "2", headers: { "if-none-match": "*" } })),
      ).toBe(201);
      expect(await code(ask(rig, { method: "DELETE", headers: { "if-match": "*" } }))).toBe(200);
      expect(await orphans(rig)).toBe(0);
    });
  });

  it("[FILE-29] of four conditional puts at once one wins", async () => {
    await inWorkspace(async (rig) => {
      await rig.enter().writer.change("main", OVER_REST, [write("a", "1")]);
      const headers = { "if-match": await etagOf("1") };
      const puts = ["2", "3", "4", "5"].map((body) => code(ask(rig, { method: "PUT", body, headers })));
      expect((await Promise.all(puts)).map(String).sort()).toEqual([
        "200",
        ...Array(3).fill("precondition_failed"),
      ]);
      await checkInvariants(rig);
    });
  });

  it("[FILE-30] bodies of any size stream through, with and without a length", async () => {
    await inWorkspace(async (rig) => {
      const sizes = [0, 1, MIB, MIB + 1, 5 * MIB, 5 * MIB + 1, 10 * MIB + 7];
      for (const size of sizes) {
        for (const announced of [true, false]) {
          const path = `f${size}-${announced}`;
          const headers: Record<string, string> = announced ? { "content-length": `${size}` } : {};
          expect(await code(ask(rig, { method: "PUT", path, body: stream(size), headers }))).toBe(201);
        }
        const [left, right] = [
          rig.enter().reader.stat({ branch: "main" }, `f${size}-true`),
          rig.enter().reader.stat({ branch: "main" }, `f${size}-false`),
        ];
        expect(left).toMatchObject({ size });
        expect(right).toMatchObject({ size, sha256: left?.kind === "file" && left.sha256 });
      }
      // Equal contents are one object, and those written for nothing are gone.
      expect((await rig.bucket.list({ prefix: rig.prefix })).objects.length).toBe(sizes.length);
      await checkInvariants(rig);
      const tail = await ask(rig, { path: `f${10 * MIB + 7}-true`, headers: { range: "bytes=-3" } });
      const end = 10 * MIB + 4;
      expect(new Uint8Array(await tail.arrayBuffer())).toEqual(
        new Uint8Array([end % 251, (end + 1) % 251, (end + 2) % 251]),
      );
    });
  });

  it("[FILE-31] a body that is too large or not as announced is refused, and what is left of it read away", async () => {
    const limits = { fileBytes: 3 * MIB, workspaceBytes: 4 * MIB };
    await inWorkspace(
      async (rig) => {
        const cases: [number, string | null, string][] = [
          [3 * MIB + 1, `${3 * MIB + 1}`, "file_too_large"],
          [5 * MIB, null, "file_too_large"],
          [50 * MIB, "10", "invalid_request"],
          [10, "11", "invalid_request"],
          [2 * MIB, `${2 * MIB + 1}`, "invalid_request"],
          [2 * MIB + 1, `${2 * MIB}`, "invalid_request"],
          [3 * MIB, `${2 * MIB}`, "invalid_request"],
        ];
        for (const [size, length, expected] of cases) {
          let cancelled = false;
          const body = stream(size, 99_991, () => {
            cancelled = true;
          });
          const headers: Record<string, string> = length === null ? {} : { "content-length": length };
          expect([size, await code(ask(rig, { method: "PUT", body, headers }))]).toEqual([size, expected]);
          // Of the long one twice what a file may have is read away; the others are read to their ends.
          expect([size, cancelled]).toEqual([size, size === 50 * MIB]);
        }
        // A single chunk that is larger than both what was announced and what a file may have.
        const body = stream(4 * MIB, 4 * MIB);
        expect(await code(ask(rig, { method: "PUT", body, headers: { "content-length": "5" } }))).toBe(
          "file_too_large",
        );
        const broken = new ReadableStream({
          start: (controller) => controller.error(new Error("connection lost")),
        });
        expect(await code(ask(rig, { method: "PUT", body: broken }))).toBe("invalid_request");
        expect(await code(ask(rig, { method: "PUT", body: stream(3 * MIB) }))).toBe(201);
        const headers = { "content-length": `${2 * MIB}` };
        expect(await code(ask(rig, { method: "PUT", path: "b", body: stream(2 * MIB), headers }))).toBe(
          "workspace_full",
        );
        expect(await code(ask(rig, { method: "PUT", path: "b", body: stream(2 * MIB) }))).toBe(
          "workspace_full",
        );
        expect(Object.keys(await texts(rig.enter()))).toEqual(["a"]);
        expect(await orphans(rig)).toBe(0);
        await checkInvariants(rig);
      },
      { limits },
    );
  });

  it("[FILE-52] eight uploads without a length run at once, a ninth does not, and those with a length do", async () => {
    await inWorkspace(async (rig) => {
      let end = (): void => {};
      const ended = new Promise<void>((resolve) => (end = resolve));
      let waiting = 0;
      let allWait = (): void => {};
      const eightWait = new Promise<void>((resolve) => (allWait = resolve));
      const slow = (): ReadableStream<Uint8Array> =>
        new ReadableStream({
          async pull(controller) {
            controller.enqueue(PATTERN.slice(0, 2 * MIB));
            waiting += 1;
            if (waiting === 8) allWait();
            await ended;
            controller.close();
          },
        });
      const uploads = Array.from({ length: 8 }, (_, n) =>
        ask(rig, { method: "PUT", path: `f${n}`, body: slow() }),
      );
      await eightWait;
      // The eighth has begun to send; its turn to be counted comes before this request's.
      expect(await code(ask(rig, { method: "PUT", body: stream(2 * MIB) }))).toBe("unavailable");
      const headers = { "content-length": `${2 * MIB}` };
      expect(await code(ask(rig, { method: "PUT", body: stream(2 * MIB), headers }))).toBe(201);
      expect(await code(ask(rig, { method: "PUT", path: "small", body: stream(1_000) }))).toBe(201);
      end();
      for (const upload of uploads) expect((await upload).status).toBe(201);
      expect(await code(ask(rig, { method: "PUT", path: "b", body: stream(2 * MIB) }))).toBe(201);
    });
  });

  it("[FILE-32] a path that is not canonical is refused before anything is read or written", async () => {
    const paths = [
      "../x",
      "a/../b",
      "a\\..\\b",
      "a\0",
      "a//b",
      ".",
      "..",
      "/a",
      "a/",
      "%2e%2e/x",
      "a%2fb",
      "cafe\u0301",
      "\u202Ea",
      "x".repeat(1_025),
      "\n",
    ];
    await inWorkspace(async (rig) => {
      for (const path of paths) {
        for (const method of ["GET", "PUT", "DELETE"]) {
          const asked = ask(rig, { method, path, ...(method === "PUT" && { body: "x" }) });
          expect([path, method, await code(asked)]).toEqual([path, method, "invalid_path"]);
        }
      }
      expect(await code(ask(rig, { method: "PUT", path: "", body: "x" }))).toBe("invalid_path");
      expect(await code(ask(rig, { method: "DELETE", path: "" }))).toBe("invalid_path");
      for (const path of ["a.", "a ", "..foo", "%41"]) {
        expect(await code(ask(rig, { method: "PUT", path, body: path }))).toBe(201);
        expect(await textOf(ask(rig, { path }))).toBe(path);
      }
      expect(rig.keeper.state().files).toBe(4);
    });
  });
});
