import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { REST_CALLS } from "../../client/rest-calls.ts";
import { RestClient } from "../../client/rest-client.ts";
import { clientCalls } from "../../scripts/client-calls/client-calls.ts";
import type { ApiDescription } from "../../scripts/client-calls/client-calls.ts";
import { describeApi } from "../../src/api/openapi.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { ORIGIN } from "./api-client.ts";
import { Product } from "./product.ts";

const description = (): ApiDescription => JSON.parse(JSON.stringify(describeApi(ROUTES))) as ApiDescription;

describe("the client's calls", () => {
  it("[CLIENT-1] are those of the API's description, each route with a call", async () => {
    const { types, calls } = clientCalls(description());
    await expect(types).toMatchFileSnapshot("../../client/rest-types.ts");
    await expect(calls).toMatchFileSnapshot("../../client/rest-calls.ts");
    const called = new Set(Object.values(REST_CALLS).map(({ method, path }) => `${method} ${path}`));
    const routes = ROUTES.map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}")}`,
    );
    expect(routes.filter((route) => !called.has(route) && !/\/(?:ai-sdk|ag-ui)\b/.test(route))).toEqual([
      "GET /docs",
      "GET /v1/sessions/{session}/ws",
    ]);
  });

  it("[CLIENT-1] a route without a call and a call without a route are refused", () => {
    const { paths } = description();
    const { "/v1/keys": keys = {}, ...others } = paths;
    expect(() => clientCalls({ paths: { ...paths, "/v1/new": keys } })).toThrow("No client call");
    expect(() => clientCalls({ paths: others })).toThrow("no such route: POST /v1/keys, GET /v1/keys");
  });
});

describe("the client and the product", () => {
  let product: Product;
  let rest: RestClient;

  beforeAll(async () => {
    product = await Product.create();
    const fetch = (...call: Parameters<typeof globalThis.fetch>): Promise<Response> =>
      exports.default.fetch(new Request(...call));
    rest = new RestClient({ url: ORIGIN, credential: product.key, fetch });
  });

  it("[CLIENT-2] a session is created once under its key, prompted, read and deleted", async () => {
    const { id } = await product.session([{ text: ["Hel", "lo."] }, { text: ["Again."] }]);
    const { agent } = await rest.session(id);
    const first = await rest.createSession({ agent }, { idempotencyKey: "once" });
    expect((await rest.createSession({ agent }, { idempotencyKey: "once" })).id).toBe(first.id);
    const seen: string[] = [];
    for await (const event of await rest.chat({ session: id, text: "hi" })) seen.push(event.type);
    expect(seen).toEqual(expect.arrayContaining(["input", "live", "output", "agent_stop"]));
    const { events, head } = await rest.events(id, { types: ["output", "agent_stop"] });
    expect(events).toMatchObject([
      { type: "output", text: "Hello." },
      { type: "agent_stop", seq: head },
    ]);
    expect((await rest.messages(id)).data.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await rest.trace(id)).spans.length).toBeGreaterThan(0);
    expect((await rest.checkpoints(id)).data).toMatchObject([{ turn: 1 }]);
    expect((await rest.queue(id)).data).toEqual([]);
    expect(await rest.interrupt(id)).toEqual({ interrupted: false, turn: expect.any(Number) });
    const receipt = await rest.prompt(id, { text: "again" }, { idempotencyKey: "p2" });
    expect(receipt.promptId).toBe("p2");
    for await (const event of await rest.followEvents(id, { after: head })) {
      if (event.type === "agent_stop") break;
    }
    expect(await rest.deleteSession(id)).toBeUndefined();
    await expect(rest.session(id)).rejects.toMatchObject({ code: "not_found", status: 404 });
  });

  it("[CLIENT-2] files go up and down as bytes, and lists come in parts", async () => {
    const { id } = await rest.createWorkspace({ name: "Notes" });
    const written = await rest.writeFile(id, "a/b c.txt", "text");
    const changed = rest.writeFile(id, "a/b c.txt", "other", {}, { headers: { "if-none-match": "*" } });
    await expect(changed).rejects.toMatchObject({ code: "precondition_failed", status: 412 });
    expect(await (await rest.readFile(id, "a/b c.txt", 2)).text()).toBe("te");
    const answer = await rest.openFile(id, "a/b c.txt");
    expect([answer.headers.get("etag"), await answer.text()]).toEqual([`"${written.sha256}"`, "text"]);
    expect(await rest.listFolder(id, "a", { depth: 1 })).toMatchObject({
      entries: [{ kind: "file", path: "a/b c.txt", size: 4 }],
      omitted: 0,
    });
    const archive = await rest.archive(id);
    const copy = await rest.createWorkspace();
    expect(await rest.putArchive(copy.id, archive.body ?? "")).toMatchObject({
      files: 1,
      changed: 1,
    });
    expect(await rest.search(copy.id, { kind: "grep", pattern: "te.t" })).toMatchObject({
      matches: [{ path: "a/b c.txt", line: 1, text: "text" }],
    });
    expect(await rest.deleteFile(copy.id, "a")).toMatchObject({ paths: ["a/b c.txt"] });
    const one = await rest.workspaces({ limit: 1 });
    const two = await rest.workspaces({ limit: 1, cursor: one.next });
    expect([...one.data, ...two.data].map((workspace) => workspace.id)).toEqual([copy.id, id]);
  });
});
