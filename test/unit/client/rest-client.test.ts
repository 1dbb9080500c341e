import { expect, it } from "vitest";
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

it("[WEB-16] a call bears the credential and the documented address", async () => {
  const { rest, seen } = client(() => Response.json({ data: [], next: null, entries: [], omitted: 0 }));
  await rest.sessions();
  await rest.sessions("a b");
  await rest.createSession({ workspace: "w" });
  await rest.renameSession("s", "Title");
  await rest.queue("s");
  await rest.listFolder("w", "");
  await rest.listFolder("w", "src/ü b");
  await rest.writeFile("w", "a%/b#.txt", new Blob(["text"]));
  await rest.session("../x");
  expect(
    seen.map(({ method, url, body }) => [method, url.replace("https://agents.test/v1", ""), body]),
  ).toEqual([
    ["GET", "/sessions", ""],
    ["GET", "/sessions?cursor=a%20b", ""],
    ["POST", "/sessions", '{"workspace":"w"}'],
    ["PATCH", "/sessions/s", '{"title":"Title"}'],
    ["GET", "/sessions/s/queue", ""],
    ["GET", "/workspaces/w/files/?depth=1&limit=1000", ""],
    ["GET", "/workspaces/w/files/src/%C3%BC%20b?depth=1&limit=1000", ""],
    ["PUT", "/workspaces/w/files/a%25/b%23.txt", "text"],
    ["GET", "/sessions/..%2Fx", ""],
  ]);
  for (const { headers } of seen) expect(headers.get("authorization")).toBe("Bearer key");
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
  await expect(rest.writeFile("w", "a", new Blob([]), aborted)).rejects.toThrow("given up");
});
