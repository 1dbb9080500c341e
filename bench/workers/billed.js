// The Workers of the benchmarks are plain JavaScript: the peers' types are there only once the peers are installed.

/** Counts what an object does that the platform bills, from its first statement on. */
class Meter {
  #counts = { rows: 0, statements: 0, alarms: 0, keyValue: 0 };
  /** A cursor's count is final only when it has been read, so the sum is taken when somebody asks. */
  #cursors = [];

  constructor(storage) {
    this.#wrap(storage.sql, "exec", (cursor) => {
      this.#counts.statements += 1;
      this.#cursors.push(cursor);
    });
    for (const name of ["setAlarm", "deleteAlarm"])
      this.#wrap(storage, name, () => (this.#counts.alarms += 1));
    for (const name of ["put", "delete"]) {
      this.#wrap(storage, name, () => (this.#counts.keyValue += 1));
      this.#wrap(storage.kv, name, () => (this.#counts.keyValue += 1));
    }
  }

  #wrap(target, name, count) {
    const original = target[name].bind(target);
    const value = (...args) => {
      const result = original(...args);
      count(result);
      return result;
    };
    Object.defineProperty(target, name, { configurable: true, value });
  }

  read() {
    for (const cursor of this.#cursors.splice(0)) this.#counts.rows += cursor.rowsWritten;
    return this.#counts;
  }
}

/** A Durable Object class whose objects tell by RPC what they have done so far that is billed. */
export function billed(Base) {
  return class extends Base {
    #meter;

    constructor(ctx, env) {
      // Before the class's own constructor, which may write.
      const meter = new Meter(ctx.storage);
      super(ctx, env);
      this.#meter = meter;
    }

    billed() {
      return this.#meter.read();
    }
  };
}

/** A Worker that answers `/billed?of=<binding>&name=<object>` and is otherwise unchanged. */
export function tellingBilled(worker) {
  return {
    async fetch(request, env, ctx) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname !== "/billed") return worker.fetch(request, env, ctx);
      return Response.json(await env[searchParams.get("of")].getByName(searchParams.get("name")).billed());
    },
  };
}
