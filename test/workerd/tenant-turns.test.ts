import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { TurnReport, UsageTotal } from "../../src/durable/tenant-api.ts";
import { TENANT_MIGRATIONS } from "../../src/durable/tenant-migrations.ts";
import { migrate } from "../../src/durable/migrations.ts";
import type { TenantBounds } from "../../src/durable/tenant-record.ts";
import { openTenantStores } from "../../src/durable/tenant-stores.ts";
import type { TenantStores } from "../../src/durable/tenant-stores.ts";
import { TenantTurnLedger } from "../../src/durable/tenant-turns.ts";
import { LightAgentError } from "../../src/runtime/protocol/errors.ts";
import { withLimits } from "../../src/runtime/protocol/limits.ts";
import { freshName } from "./product.ts";

const NOON = Date.UTC(2026, 10, 30, 12);
const DAY = "2026-11-30";

/** A ledger over real storage, with a clock that the test moves. */
interface Rig {
  readonly ledger: TenantTurnLedger;
  readonly stores: TenantStores;
  now: number;
}

function withRig(body: (rig: Rig) => void): Promise<void> {
  return runInDurableObject(env.TENANT.getByName(freshName("turns")), (_, { storage }) => {
    migrate(storage, TENANT_MIGRATIONS);
    const stores = openTenantStores(storage.sql);
    const rig: Rig = { ledger: new TenantTurnLedger(stores, () => rig.now), stores, now: NOON };
    body(rig);
  });
}

function bounds(
  limits: Parameters<typeof withLimits>[0] = {},
  budget: TenantBounds["budget"] = {},
): TenantBounds {
  return { limits: withLimits(limits), overrides: limits, budget };
}

function total(input: number, output: number, model = "m", day = DAY): UsageTotal {
  return { day, agent: "a", model, usage: { input, output, cachedInput: 0, reasoning: 0 }, cost: input };
}

function report(session: string, turn: number, extra: Partial<TurnReport> = {}): TurnReport {
  const index = { title: `after ${turn}`, agentVersion: 1, status: "idle", head: turn * 4, updatedAt: NOON };
  return {
    session,
    turn,
    continues: false,
    usage: [],
    models: [],
    auditAfter: 0,
    audit: [],
    index,
    ...extra,
  };
}

/** What the call throws, as the caller will see it. */
function refusal(call: () => unknown): { code: string; details: unknown } | null {
  try {
    call();
    return null;
  } catch (caught) {
    if (!(caught instanceof LightAgentError)) throw caught;
    return { code: caught.code, details: caught.details };
  }
}

function enter(stores: TenantStores, id: string): void {
  stores.sessions.insert({ id, digest: "", agent: "a", agentVersion: 1, workspace: id, title: "" }, NOON);
}

describe("leases of running turns", () => {
  it("[TENANT-31] beyond the number of running turns a new one is refused, until one ends or its lease expires", () =>
    withRig((rig) => {
      const two = bounds({ runningTurns: 2 });
      const begin =
        (session: string, turn = 1, admit = true): (() => unknown) =>
        () =>
          rig.ledger.begin({ session, turn, admit }, two);
      expect([refusal(begin("a")), refusal(begin("b"))]).toEqual([null, null]);
      const details = { limit: "runningTurns", value: 2, retryAfterMs: expect.any(Number) };
      expect(refusal(begin("c"))).toEqual({ code: "too_many_turns", details });
      // What holds a lease may renew it, and go on to its next turn.
      expect([refusal(begin("a")), refusal(begin("a", 2))]).toEqual([null, null]);
      rig.ledger.end(report("b", 1), two);
      expect(refusal(begin("c"))).toBeNull();
      rig.now += two.limits.leaseMs;
      expect([refusal(begin("d")), refusal(begin("e"))]).toEqual([null, null]);
      expect(refusal(begin("f"))?.code).toBe("too_many_turns");
    }));

  it("[TENANT-32] a prompt that was accepted is never refused, at any limit or budget", () =>
    withRig((rig) => {
      const tight = bounds({ runningTurns: 1, promptsPerMinute: 1 }, { dayTokens: 1 });
      rig.ledger.end(report("x", 1, { usage: [total(5, 5)] }), tight);
      for (const session of ["a", "b", "c"]) {
        expect(refusal(() => rig.ledger.begin({ session, turn: 1, admit: false }, tight))).toBeNull();
      }
      expect(rig.stores.leases.count(rig.now)).toBe(3);
    }));

  it("[TENANT-33] a late or repeated report takes no later turn's lease away", () =>
    withRig((rig) => {
      enter(rig.stores, "s");
      const any = bounds();
      rig.ledger.begin({ session: "s", turn: 1, admit: true }, any);
      rig.ledger.end(report("s", 1, { continues: true }), any);
      expect(rig.stores.leases.turnOf("s", rig.now)).toBe(2);
      rig.ledger.end(report("s", 1), any);
      expect(rig.stores.leases.turnOf("s", rig.now)).toBe(2);
      rig.ledger.end(report("s", 2), any);
      rig.ledger.end(report("s", 2), any);
      expect(rig.stores.leases.turnOf("s", rig.now)).toBeNull();
      rig.ledger.end(report("s", 1), any);
      expect(rig.stores.sessions.find("s")).toMatchObject({ turn: 2, title: "after 2", head: 8 });
    }));
});

describe("the index of sessions", () => {
  it("[TENANT-33] a report that was under way while its session was renamed keeps the new name", () =>
    withRig((rig) => {
      enter(rig.stores, "s");
      rig.stores.sessions.rename("s", "Renamed", NOON + 1);
      rig.ledger.end(report("s", 1), bounds());
      expect(rig.stores.sessions.find("s")).toMatchObject({
        turn: 1,
        title: "Renamed",
        head: 4,
        updated_at: NOON + 1,
      });
    }));
});

describe("prompts per minute", () => {
  it("[TENANT-34] beyond the number a prompt is refused until the minute is over; renewals do not count", () =>
    withRig((rig) => {
      const two = bounds({ promptsPerMinute: 2 });
      const begin = (turn: number) => (): unknown =>
        rig.ledger.begin({ session: "s", turn, admit: true }, two);
      expect([begin(1), begin(1), begin(1), begin(2)].map(refusal)).toEqual([null, null, null, null]);
      rig.now += 20_000;
      const details = { limit: "promptsPerMinute", value: 2, retryAfterMs: 40_000 };
      expect(refusal(begin(3))).toEqual({ code: "rate_limited", details });
      rig.now += 40_000;
      expect(refusal(begin(3))).toBeNull();
      // A queued prompt that goes on at once counts as well.
      rig.ledger.end(report("s", 3, { continues: true }), two);
      rig.ledger.end(report("s", 4), two);
      expect(refusal(begin(5))?.code).toBe("rate_limited");
    }));
});

describe("usage", () => {
  it("[TENANT-35] totals count once, however often and in whatever order they are reported", () =>
    withRig((rig) => {
      const any = bounds();
      const first = report("s", 1, { usage: [total(10, 1), total(4, 4, "n")] });
      const second = report("s", 2, { usage: [total(30, 3)] });
      for (const each of [first, second, first, second]) rig.ledger.end(each, any);
      rig.ledger.end(report("t", 1, { usage: [total(100, 0)] }), any);
      const page = { limit: 1, cursor: null };
      const all = { from: "2026-01-01", to: "2026-12-31" };
      const one = rig.stores.usage.list(all, page);
      expect(one.data).toEqual([
        {
          day: DAY,
          agent: "a",
          model: "m",
          usage: { input: 130, output: 3, cachedInput: 0, reasoning: 0 },
          cost: 130,
        },
      ]);
      const rest = rig.stores.usage.list(all, { limit: 1, cursor: one.next });
      expect(rest).toMatchObject({ data: [{ model: "n", usage: { input: 4 } }], next: null });
      expect(rig.stores.usage.tokens(DAY, DAY)).toBe(141);
    }));

  it("[TENANT-36] a spent budget refuses new turns until its day or month is over", () =>
    withRig((rig) => {
      const begin = (budget: TenantBounds["budget"]) => (): unknown =>
        rig.ledger.begin({ session: "s", turn: 1, admit: true }, bounds({}, budget));
      rig.ledger.end(
        report("x", 1, { usage: [total(60, 40), total(1_000, 0, "m", "2026-11-01")] }),
        bounds(),
      );
      expect(refusal(begin({ dayTokens: 101, monthTokens: 1_101 }))).toBeNull();
      rig.ledger.end(report("s", 1), bounds());
      const hours = 12 * 60 * 60_000;
      expect(refusal(begin({ dayTokens: 100 }))).toEqual({
        code: "budget_exceeded",
        details: { limit: "dayTokens", value: 100, retryAfterMs: hours },
      });
      expect(refusal(begin({ monthTokens: 1_100 }))).toMatchObject({
        details: { limit: "monthTokens", retryAfterMs: hours },
      });
      rig.now += hours;
      expect(refusal(begin({ dayTokens: 100, monthTokens: 1_100 }))).toBeNull();
    }));

  it("[TENANT-36] a turn that runs holds a part of the budget until it has reported", () =>
    withRig((rig) => {
      const begin = (session: string, admit = true): number | null =>
        rig.ledger.begin({ session, turn: 1, admit }, bounds({ turnReserveTokens: 4 }, { dayTokens: 100 }))
          .tokensLeft;
      expect(begin("a")).toBe(100);
      expect(begin("b")).toBe(96);
      expect(begin("b")).toBe(96);
      rig.ledger.end(report("a", 1, { usage: [total(90, 0)] }), bounds());
      expect(begin("c")).toBe(6);
      rig.ledger.end(report("x", 1, { usage: [total(2, 0)] }), bounds());
      expect(refusal(() => begin("d"))).toMatchObject({ code: "budget_exceeded" });
      // What was accepted makes one model call.
      expect(begin("d", false)).toBe(1);
      expect(rig.ledger.begin({ session: "e", turn: 1, admit: true }, bounds()).tokensLeft).toBeNull();
    }));

  it("[TENANT-40] what fails in one session rests in all, and comes back by itself; a repeated report counts once", () =>
    withRig((rig) => {
      enter(rig.stores, "s");
      const limits = bounds({ breakerFailures: 3, breakerRestMs: 1_000 });
      const failed = (failures: number) => {
        return {
          model: "x/a",
          requests: failures,
          successes: 0,
          failures,
          failing: failures,
          inputTokens: 0,
          outputTokens: 0,
        };
      };
      const resting = () => rig.ledger.begin({ session: "other", turn: 1, admit: true }, limits).resting;
      rig.ledger.end(report("s", 1, { models: [failed(2)] }), limits);
      rig.ledger.end(report("s", 1, { models: [failed(2)] }), limits);
      expect(resting()).toEqual([]);
      rig.ledger.end(report("s", 2, { models: [failed(1)] }), limits);
      expect(resting()).toEqual([{ model: "x/a", until: NOON + 1_000 }]);
      rig.now += 1_000;
      expect(resting()).toEqual([]);
      const worked = { ...failed(0), requests: 1, successes: 1, inputTokens: 5, outputTokens: 6 };
      rig.ledger.end(report("s", 3, { models: [worked] }), limits);
      rig.ledger.end(report("s", 4, { models: [failed(2)] }), limits);
      expect(resting()).toEqual([]);
      expect(rig.stores.models.list({ limit: 9, cursor: null }, rig.now).data).toEqual([
        {
          model: "x/a",
          requests: 6,
          successes: 1,
          failures: 5,
          inputTokens: 5,
          outputTokens: 6,
          restsUntil: null,
        },
      ]);
    }));

  it("[TENANT-37] what a session reports of prompts and decisions is in the audit log once", () =>
    withRig((rig) => {
      enter(rig.stores, "s");
      const entry = {
        seq: 1,
        at: NOON,
        by: { kind: "user", id: "u" },
        action: "session.prompt",
        target: "session:s",
        result: "ok",
      } as const;
      const { seq: _seq, ...line } = entry;
      const once = report("s", 1, { audit: [entry] });
      rig.ledger.end(once, bounds());
      rig.ledger.end(once, bounds());
      expect(rig.stores.audit.list({ limit: 9, cursor: null }).data).toEqual([{ number: 1, ...line }]);
    }));

  it("[TENANT-39] what was done in turns whose reports were lost is asked for, and enters the audit log once", () =>
    withRig((rig) => {
      enter(rig.stores, "s");
      const by = { kind: "user", id: "u" } as const;
      const act = (seq: number) => ({
        seq,
        at: NOON + seq,
        by,
        action: "session.prompt",
        target: "session:s",
        result: "ok",
      });
      const audit = [act(1), act(5), act(9)];
      const told = (turn: number, after: number) =>
        report("s", turn, {
          auditAfter: after,
          audit: audit.filter(({ seq }) => seq > after && seq <= turn * 4),
        });
      expect(rig.ledger.end(told(1, 0), bounds())).toEqual({ heard: 4 });
      // The second turn's report never arrived.
      expect(rig.ledger.end(told(3, 8), bounds())).toEqual({ heard: 4 });
      expect(rig.stores.sessions.find("s")).toMatchObject({ turn: 1, head: 4 });
      expect(rig.ledger.end(told(3, 4), bounds())).toEqual({ heard: 12 });
      expect(rig.ledger.end(told(2, 4), bounds())).toEqual({ heard: 12 });
      const { data } = rig.stores.audit.list({ limit: 9, cursor: null });
      expect(data.map(({ at }) => at - NOON)).toEqual([9, 5, 1]);
      expect(rig.stores.sessions.find("s")).toMatchObject({ turn: 3, head: 12 });
    }));
});
