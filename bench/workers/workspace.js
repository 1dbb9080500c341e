import { Workspace as Product } from "../../src/durable/workspace.ts";

const TENANT = "bench";
const BY = { kind: "system", id: "bench" };

/** Of all objects, and kept when one is evicted. */
const counts = { operations: 0 };

/** R2 that counts what is asked of it. */
function counting(bucket) {
  return new Proxy(bucket, {
    get(target, name) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (...args) => {
        counts.operations += 1;
        return value.apply(target, args);
      };
    },
  });
}

/** The product's object, which also tells what its searches ask of R2, and searches as one would without an index. */
export class Workspace extends Product {
  #files;

  constructor(ctx, env) {
    super(ctx, { ...env, FILES: counting(env.FILES) });
    this.#files = env.FILES;
  }

  counts() {
    return { ...counts, stored: this.ctx.storage.sql.databaseSize };
  }

  /** Lists the objects and reads each, six at once, with JavaScript's own regular expressions. */
  async naive(workspace, pattern) {
    const lines = new RegExp(pattern, "gm");
    let found = 0;
    let cursor;
    do {
      const page = await this.#files.list({ prefix: `t/${TENANT}/w/${workspace}/`, cursor });
      cursor = page.truncated ? page.cursor : undefined;
      const keys = page.objects.map(({ key }) => key);
      const reader = async () => {
        for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
          const object = await this.#files.get(key);
          const text = await object.text();
          if (text.search(lines) < 0) continue;
          for (const line of text.split("\n")) if (line.search(lines) >= 0) found += 1;
        }
      };
      await Promise.all(Array.from({ length: 6 }, reader));
    } while (cursor);
    return found;
  }
}

const encoder = new TextEncoder();

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("workspace");
    const workspace = env.WORKSPACE.getByName(`${TENANT}:${id}`);
    const body = await request.json();
    switch (pathname) {
      case "/create":
        return Response.json(await workspace.create({ tenant: TENANT, id, name: id, by: BY }));
      case "/write": {
        const changes = body.map(([path, text]) => ({ kind: "write", path, bytes: encoder.encode(text) }));
        return Response.json(await workspace.change("main", { by: BY }, changes));
      }
      case "/search":
        return Response.json(await workspace.search("main", body));
      case "/naive":
        return Response.json(await workspace.naive(id, body.pattern));
      default:
        return Response.json(await workspace.counts());
    }
  },
};
