import { describe, expect, it } from "vitest";
import { env, exports } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import type { Answer } from "../../src/runtime/protocol/answer.ts";
import { Product } from "./product.ts";
import { OVER_REST, inWorkspace, write } from "./workspace-rig.ts";

const MB = 1024 * 1024;

/** A tenant's promise to a workspace, without the tenant: exact, so that every byte counts. */
class Grants {
  granted = 0;
  readonly asked: number[] = [];
  answers = true;
  most: number;

  constructor(most: number) {
    this.most = most;
  }

  readonly allowStorage = async (_workspace: string, bytes: number): Promise<Answer<number>> => {
    this.asked.push(bytes);
    if (!this.answers) throw new Error("no answer");
    if (bytes > this.most && bytes > this.granted) {
      return { ok: false, error: { code: "storage_full", message: "Full." } };
    }
    this.granted = bytes;
    return { ok: true, value: bytes };
  };
}

const text = (bytes: number, fill: string): string => fill.repeat(bytes);

describe("what a workspace stores", () => {
  it("[FILE-86] is counted by content, old versions too, and refused beyond what the tenant gives", async () => {
    const grants = new Grants(100);
    await inWorkspace(
      async ({ enter, bucket, prefix }) => {
        const { writer, reader } = enter();
        await writer.change("main", OVER_REST, [write("a", text(40, "a"))]);
        await writer.change("main", OVER_REST, [write("b", text(40, "a"))]);
        await writer.change("main", OVER_REST, [write("a", text(50, "b"))]);
        expect(grants.granted).toBe(90);
        await expect(writer.change("main", OVER_REST, [write("c", text(11, "c"))])).rejects.toMatchObject({
          code: "storage_full",
        });
        // What stores nothing more goes on.
        await writer.change("main", OVER_REST, [{ kind: "delete", path: "b" }]);
        await writer.change("main", OVER_REST, [write("d", text(50, "b"))]);
        await writer.change("main", OVER_REST, [write("c", text(10, "c"))]);
        expect(grants.granted).toBe(100);
        const { objects } = await bucket.list({ prefix });
        expect(objects.map(({ size }) => size).toSorted((a, b) => a - b)).toEqual([10, 40, 50]);
        expect(
          reader
            .view({ branch: "main" })
            .files("")
            .map(({ path }) => path)
            .toSorted(),
        ).toEqual(["a", "c", "d"]);
      },
      { allowStorage: grants.allowStorage },
    );
  });

  it("[FILE-87] is right when writers come at once, when one fails, and when the process dies", async () => {
    const grants = new Grants(100);
    await inWorkspace(
      async ({ enter, restart }) => {
        const { writer } = enter();
        const at = (path: string) => writer.change("main", OVER_REST, [write(path, text(30, path))]);
        const made = await Promise.allSettled(["a", "b", "c", "d", "e"].map(at));
        expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
        expect(
          made.flatMap((one) => (one.status === "rejected" ? [(one.reason as { code: string }).code] : [])),
        ).toEqual(["storage_full", "storage_full"]);
        expect(grants.granted).toBe(90);
        // A process that comes after counts what is stored, and nothing that was only on its way.
        const next = restart();
        await next.writer.change("main", OVER_REST, [write("f", text(10, "f"))]);
        expect(grants.granted).toBe(100);
        grants.answers = false;
        await expect(next.writer.change("main", OVER_REST, [write("g", "g")])).rejects.toMatchObject({
          message: "no answer",
        });
        await next.writer.change("main", OVER_REST, [{ kind: "delete", path: "f" }]);
      },
      { allowStorage: grants.allowStorage },
    );
  });

  it("[FILE-87] is given back by the sweep that removes it", async () => {
    const grants = new Grants(1_000);
    let now = 1;
    await inWorkspace(
      async ({ enter, fire }) => {
        const { writer } = enter();
        await writer.change("main", OVER_REST, [write("a", text(600, "a"))]);
        await writer.change("main", OVER_REST, [write("a", text(50, "b"))]);
        await writer.change("main", OVER_REST, [write("a", text(60, "c"))]);
        expect(grants.granted).toBe(710);
        now += 40 * 24 * 60 * 60_000;
        for (let sweeps = 0; sweeps < 5; sweeps += 1) await fire();
        expect(grants.granted).toBeLessThan(150);
        await writer.change("main", OVER_REST, [write("b", text(900, "d"))]);
        expect(grants.granted).toBeLessThanOrEqual(1_000);
      },
      { allowStorage: grants.allowStorage, clock: () => now, limits: { versions: 1, versionsMs: 1 } },
    );
  });
});

describe("what a tenant stores", () => {
  async function limit(product: Product, storageBytes: number): Promise<void> {
    const response = await exports.default.fetch(`https://light-agent.test/v1/tenants/${product.tenant}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${env.ROOT_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ limits: { storageBytes } }),
    });
    expect(response.status).toBe(200);
  }

  it("[FILE-86] [FILE-87] is the sum of its workspaces, bounded by its limit, and less when one is deleted", async () => {
    const product = await Product.create();
    await limit(product, 3 * MB);
    for (const id of ["one", "two"]) await product.call("POST", "/v1/workspaces", { id });
    const put = async (workspace: string, path: string, bytes: number, fill: string): Promise<number> => {
      const url = `/v1/workspaces/${workspace}/files/${path}`;
      const response = await product.fetch(url, { method: "PUT", body: text(bytes, fill) });
      const answered = (await response.json()) as { error?: { code: string } };
      if (response.status >= 400) expect(answered.error?.code).toBe("storage_full");
      return response.status;
    };
    expect(await put("one", "a", MB, "a")).toBe(201);
    expect(await put("two", "a", MB, "b")).toBe(201);
    expect(await put("one", "b", MB, "c")).toBe(201);
    expect(await put("one", "c", MB + 1, "d")).toBe(409);
    await evictDurableObject(env.WORKSPACE.getByName(`${product.tenant}:one`));
    expect(await put("one", "c", MB / 2, "d")).toBe(409);
    expect((await product.fetch("/v1/workspaces/two", { method: "DELETE" })).status).toBe(202);
    await expect.poll(() => put("one", "d", MB, "e"), { timeout: 10_000 }).toBe(201);
  });
});
