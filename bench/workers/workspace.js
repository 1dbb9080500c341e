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

/** A tenant that lets a workspace hold whatever it likes. */
const GENEROUS = { allowStorage: async () => ({ ok: true, value: Number.MAX_SAFE_INTEGER }) };

/** The product's object, which also tells what its searches ask of R2, and searches as one would without an index. */
export class Workspace extends Product {
  #files;

  #cursors = [];
  #rowsRead = 0;

  constructor(ctx, env) {
    const exec = ctx.storage.sql.exec.bind(ctx.storage.sql);
    const cursors = [];
    const value = (...args) => {
      const cursor = exec(...args);
      cursors.push(cursor);
      return cursor;
    };
    Object.defineProperty(ctx.storage.sql, "exec", { configurable: true, value });
    super(ctx, { ...env, FILES: counting(env.FILES), TENANT: { getByName: () => GENEROUS } });
    this.#files = env.FILES;
    this.#cursors = cursors;
  }

  counts() {
    for (const cursor of this.#cursors.splice(0)) this.#rowsRead += cursor.rowsRead;
    return { ...counts, stored: this.ctx.storage.sql.databaseSize, rowsRead: this.#rowsRead };
  }

  evict() {
    this.ctx.abort("evicted");
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
const WHOLE = { offset: 0, length: 1 << 20 };

/** A file's bytes are not JSON. */
function lengthOf({ value }) {
  return value.bytes.length;
}

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
      case "/tree":
        return Response.json(await workspace.list({ branch: "main" }, "", body));
      case "/read":
        return Response.json(lengthOf(await workspace.read({ branch: "main" }, body, WHOLE)));
      case "/edit": {
        const { entry, bytes } = (await workspace.read({ branch: "main" }, body, WHOLE)).value;
        const text = `${new TextDecoder().decode(bytes)}// edited`;
        const change = { kind: "write", path: body, bytes: encoder.encode(text), ifMatch: entry.sha256 };
        return Response.json(await workspace.change("main", { by: BY }, [change]));
      }
      case "/evict":
        return Response.json(await workspace.evict().catch(() => null));
      case "/naive":
        return Response.json(await workspace.naive(id, body.pattern));
      default:
        return Response.json(await workspace.counts());
    }
  },
};
