import { expect, it } from "vitest";
import type { EventStream } from "../../../client/event-stream.ts";
import { RestClient } from "../../../client/rest-client.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

function client(respond: () => Response | Promise<Response>): { rest: RestClient; seen: Seen[] } {
  const seen: Seen[] = [];
  const fetch = async (...call: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const request = new Request(...call);
    const { method, headers } = request;
    seen.push({ method, url: request.url, headers, body: await request.text() });
    return respond();
  };
  return { rest: new RestClient({ url: "https://agents.test", credential: "key", fetch }), seen };
}

async function errorOf(promise: Promise<unknown>): Promise<LightAgentError> {
  const caught: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (caught instanceof LightAgentError) return caught;
  throw new Error(`Not the product's error: ${String(caught)}`);
}

const ADDRESS = "https://agents.test/v1";

it("[WEB-16] a call bears the credential, the documented address and what is given in its place", async () => {
  const { rest, seen } = client(() => Response.json({ data: [], next: null }));
  await rest.sessions();
  await rest.sessions({ cursor: "a b", limit: undefined });
  await rest.createSession({ workspace: "w" }, { idempotencyKey: "k1" });
  await rest.createSession();
  await rest.changeSession("s", { title: "Title" });
  await rest.approve("s", "a1", { decision: "allow" });
  await rest.compact("s");
  await rest.events("s", { after: 7, types: ["input", "output"] });
  await rest.listFolder("w", "");
  await rest.listFolder("w", "src/ü b", { depth: 1 });
  await rest.writeFile(
    "w",
    "a%/b#.txt",
    new Blob(["text"]),
    { branch: "b" },
    { headers: { "if-match": '"e"' } },
  );
  await rest.search("w", { kind: "glob", pattern: "*" }, { branch: "b" });
  await rest.unqueue("s", "p");
  await rest.session("../x");
  await rest.checkpoints("s", { limit: 30, cursor: "4" });
  await rest.trace("s", { turn: 2 });
  await rest.restore("s", { toSeq: 4, files: false });
  await rest.fork("s", { atSeq: 4 });
  expect(seen.map(({ method, url, body }) => [method, url.replace(ADDRESS, ""), body])).toEqual([
    ["GET", "/sessions", ""],
    ["GET", "/sessions?cursor=a+b", ""],
    ["POST", "/sessions", '{"workspace":"w"}'],
    ["POST", "/sessions", "{}"],
    ["PATCH", "/sessions/s", '{"title":"Title"}'],
    ["POST", "/sessions/s/approvals/a1", '{"decision":"allow"}'],
    ["POST", "/sessions/s/compact", "{}"],
    ["GET", "/sessions/s/events?after=7&types=input%2Coutput", ""],
    ["GET", "/workspaces/w/files/", ""],
    ["GET", "/workspaces/w/files/src/%C3%BC%20b?depth=1", ""],
    ["PUT", "/workspaces/w/files/a%25/b%23.txt?branch=b", "text"],
    ["POST", "/workspaces/w/search?branch=b", '{"kind":"glob","pattern":"*"}'],
    ["DELETE", "/sessions/s/queue/p", ""],
    ["GET", "/sessions/..%2Fx", ""],
    ["GET", "/sessions/s/checkpoints?limit=30&cursor=4", ""],
    ["GET", "/sessions/s/trace?turn=2", ""],
    ["POST", "/sessions/s/restore", '{"toSeq":4,"files":false}'],
    ["POST", "/sessions/s/fork", '{"atSeq":4}'],
  ]);
  for (const { headers } of seen) expect(headers.get("authorization")).toBe("Bearer key");
  expect(seen[2]?.headers.get("idempotency-key")).toBe("k1");
  expect(seen[10]?.headers.get("if-match")).toBe('"e"');
});

it("[CLIENT-3] a path or an id that the address would lose is refused before anything is sent", async () => {
  const { rest, seen } = client(() => Response.json({}));
  for (const path of ["..", "../../x", "a/../b", "./a"]) {
    expect(await errorOf(rest.deleteFile("w", path))).toMatchObject({ code: "invalid_path" });
  }
  expect(await errorOf(rest.deleteSession(".."))).toMatchObject({ code: "invalid_path" });
  expect(seen).toEqual([]);
});

it("[WEB-16] the beginning of a file is read by range; that of an empty one is empty", async () => {
  const { rest, seen } = client(() => new Response("abc", { status: 206 }));
  expect(await (await rest.readFile("w", "a.txt", 3)).text()).toBe("abc");
  expect(seen[0]?.headers.get("range")).toBe("bytes=0-2");
  const error = { code: "range_not_satisfiable", message: "outside" };
  const empty = client(() => Response.json({ error }, { status: 416 }));
  expect((await empty.rest.readFile("w", "a.txt", 3)).size).toBe(0);
});

it("[WEB-16] a refusal is the error that the server answered, also one that is newer than this client", async () => {
  const details = { limit: 3 };
  for (const code of ["queue_full", "of_the_future"]) {
    const { rest } = client(() =>
      Response.json({ error: { code, message: "no", details } }, { status: 429 }),
    );
    expect(await errorOf(rest.sessions())).toMatchObject({ code, message: "no", details });
  }
});

it.each(["<html>Bad gateway</html>", "null", '{"error":"text"}', '{"error":{"code":7}}'])(
  "[WEB-16] an answer of something in between is `unavailable` with its status: %s",
  async (body) => {
    const { rest } = client(() => new Response(body, { status: 502 }));
    expect(await errorOf(rest.sessions())).toMatchObject({
      code: "unavailable",
      message: "The server answered with status 502.",
    });
  },
);

it("[WEB-16] a server that cannot be reached is `unavailable`; a call that was given up is not", async () => {
  const { rest } = client(() => Promise.reject(new TypeError("fetch failed")));
  expect(await errorOf(rest.sessions())).toMatchObject({ code: "unavailable" });
  const aborted = AbortSignal.abort(new Error("given up"));
  await expect(rest.writeFile("w", "a", new Blob([]), {}, { signal: aborted })).rejects.toThrow("given up");
});

it("[CLIENT-10] each call asks anew for a credential that is a function, and rejects with what that throws", async () => {
  const sent: (string | null)[] = [];
  const fetch = async (...call: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    sent.push(new Request(...call).headers.get("authorization"));
    return Response.json({ data: [], next: null });
  };
  const given: (string | LightAgentError)[] = ["t1", "t2", new LightAgentError("forbidden", "signed out")];
  const credential = async (): Promise<string> => {
    const next = given.shift();
    if (typeof next === "string") return next;
    throw next;
  };
  const rest = new RestClient({ url: "https://agents.test", credential, fetch });
  await rest.sessions();
  await rest.sessions();
  expect(await errorOf(rest.sessions())).toMatchObject({ code: "forbidden", message: "signed out" });
  expect(sent).toEqual(["Bearer t1", "Bearer t2"]);
});

it("[CLIENT-3] an address, a credential and a header that cannot be sent are told apart from a dead server", async () => {
  const unusable = new RestClient({ url: "nowhere", credential: "key" });
  expect(await errorOf(unusable.sessions())).toMatchObject({ code: "invalid_request" });
  const copied = new RestClient({ url: "https://agents.test", credential: "key\u2026" });
  expect(await errorOf(copied.sessions())).toMatchObject({ code: "invalid_request" });
  const { rest, seen } = client(() => Response.json({}));
  const options = { headers: { "x-user-id": "a\nb" } };
  expect(await errorOf(rest.sessions({}, options))).toMatchObject({ code: "invalid_request" });
  expect(seen).toEqual([]);
});

it("[CLIENT-4] an error says its status, the request's id and when to try again", async () => {
  const error = { code: "rate_limited", message: "later", details: { retryAfterMs: 1_500 } };
  const headers = { "retry-after": "2", "x-request-id": "r1" };
  const { rest } = client(() => Response.json({ error }, { status: 429, headers }));
  expect(await errorOf(rest.sessions())).toMatchObject({
    code: "rate_limited",
    status: 429,
    requestId: "r1",
    retryAfterMs: 1_500,
  });
  const between = client(() => new Response("busy", { status: 503, headers: { "retry-after": "3" } }));
  expect(await errorOf(between.rest.sessions())).toMatchObject({
    code: "unavailable",
    status: 503,
    requestId: null,
    retryAfterMs: 3_000,
  });
  const gone = client(() => Promise.reject(new TypeError("fetch failed")));
  expect(await errorOf(gone.rest.sessions())).toMatchObject({ status: 0, retryAfterMs: null });
});

it("[CLIENT-4] an answer that is cut off or is no JSON is `unavailable`", async () => {
  for (const body of ['{"data":[', "<html>"]) {
    const { rest } = client(() => new Response(body));
    expect(await errorOf(rest.sessions())).toMatchObject({ code: "unavailable" });
  }
});

const encoder = new TextEncoder();

/** An answer of these pieces, which then ends, or breaks off. */
function answerOf(pieces: readonly (string | Uint8Array)[], broken = false): ReadableStream<Uint8Array> {
  const rest = pieces.values();
  return new ReadableStream({
    pull(controller) {
      const { value, done } = rest.next();
      if (!done) controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      else if (broken) controller.error(new TypeError("terminated"));
      else controller.close();
    },
  });
}

async function itemsOf(stream: EventStream): Promise<unknown[]> {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

it("[CLIENT-5] events are read as they come, however the answer is cut, and without what keeps it alive", async () => {
  const bytes = encoder.encode('{"type":"output","text":"ä€😀"}\n\n{"type":"live","head":2,"partial":[]}\n');
  for (const size of [1, 3, 1_000]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.slice(index * size, (index + 1) * size),
    );
    const { rest, seen } = client(
      () => new Response(answerOf(pieces), { headers: { "x-session-id": "s1" } }),
    );
    const stream = await rest.chat({ text: "hi" });
    expect(stream.session).toBe("s1");
    expect(await itemsOf(stream)).toEqual([
      { type: "output", text: "ä€😀" },
      { type: "live", head: 2, partial: [] },
    ]);
    expect(seen[0]?.headers.get("accept")).toBe("application/x-ndjson");
  }
});

it("[CLIENT-5] a stream that is cut off says so, after all that came whole", async () => {
  const cases = [
    answerOf(['{"seq":1}\n{"se'], true),
    answerOf(['{"seq":1}\n{"se']),
    answerOf(['{"seq":1}\n{]\n']),
  ];
  for (const body of cases) {
    const { rest } = client(() => new Response(body));
    const items: unknown[] = [];
    const read = (async () => {
      for await (const item of await rest.followEvents("s")) items.push(item);
    })();
    expect(await errorOf(read)).toMatchObject({ code: "unavailable" });
    expect(items).toEqual([{ seq: 1 }]);
  }
});

it("[CLIENT-5] leaving the loop, and giving the call up, hang up", async () => {
  let hungUp = 0;
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode('{"seq":1}\n')),
      cancel: () => void (hungUp += 1),
    });
  const { rest } = client(() => new Response(endless()));
  for await (const item of await rest.followEvents("s")) {
    expect(item).toEqual({ seq: 1 });
    break;
  }
  expect(hungUp).toBe(1);
});

it("[CLIENT-6] bytes are answered as they are, with their headers; a file that is the same is an answer", async () => {
  const { rest, seen } = client(() => new Response("abc", { status: 206, headers: { etag: '"e"' } }));
  const part = await rest.openFile("w", "a", {}, { headers: { range: "bytes=0-2" } });
  expect([part.status, part.headers.get("etag"), await part.text()]).toEqual([206, '"e"', "abc"]);
  expect(seen[0]?.headers.get("range")).toBe("bytes=0-2");
  const same = client(() => new Response(null, { status: 304 }));
  expect((await same.rest.openFile("w", "a", {}, { headers: { "if-none-match": '"e"' } })).status).toBe(304);
});

it("[CLIENT-6] a stream is sent as it comes", async () => {
  const { rest, seen } = client(() => Response.json({}));
  await rest.putArchive("w", answerOf(["one", "two"]));
  expect(seen[0]).toMatchObject({ method: "PUT", body: "onetwo" });
  expect(seen[0]?.headers.get("content-type")).toBe("application/x-tar");
});
