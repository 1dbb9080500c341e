import { expect, it } from "vitest";
import type { LiveSession } from "../../../src/durable/live-session.ts";
import { Alarms } from "../../../src/durable/alarms.ts";
import { MetaStore } from "../../../src/durable/meta-store.ts";
import type { TenantTurns } from "../../../src/durable/tenant-api.ts";
import { TurnKeeper } from "../../../src/durable/turn-keeper.ts";
import { sessionSql } from "./memory-sql.ts";

type Answer = Awaited<ReturnType<TenantTurns["endTurn"]>>;

/** A session at rest whose head can move, and a tenant that answers when it is told to. */
function atRest() {
  let head = 1;
  let alarm: number | null = 30_000;
  const answers: ((answer: Answer) => void)[] = [];
  const setAlarm = async (at: number): Promise<void> => void (alarm = at);
  const deleteAlarm = async (): Promise<void> => void (alarm = null);
  const alarms = new Alarms({ getAlarm: async () => alarm, setAlarm, deleteAlarm }, () => 0);
  const tenant = { endTurn: () => new Promise<Answer>((resolve) => answers.push(resolve)) };
  const session = {
    settings: { tenant: "t" },
    models: { health: { reported: () => undefined } },
    report: () => ({ index: { head } }),
    agent: { fold: { open: null }, getState: () => ({ status: "idle", queuedPrompts: 0, head }) },
  };
  const keeper = new TurnKeeper({
    ctx: { waitUntil: () => undefined, storage: { sync: async () => undefined } },
    meta: new MetaStore(sessionSql()),
    alarms,
    tenant: () => tenant as unknown as TenantTurns,
    resume: async () => undefined,
    busy: () => false,
  });
  const report = async (): Promise<void> => keeper.report(session as unknown as LiveSession);
  return { alarms, answers, report, alarm: () => alarm, move: () => (head += 1) };
}

const OK: Answer = { ok: true, value: { heard: 9 } };
const DOWN: Answer = { ok: false, error: { code: "unavailable", message: "down" } };

it("[LOG-85] an answer to an older report does not call the alarm off while the newest one is not heard", async () => {
  const rest = atRest();
  await rest.alarms.read();
  const first = rest.report();
  rest.move();
  const second = rest.report();
  const [older, newest] = rest.answers;
  newest?.(DOWN);
  await second;
  older?.(OK);
  await first;
  expect(rest.alarm()).toBe(30_000);
});

it("[LOG-85] once the tenant has heard of the newest turn's end no alarm is due", async () => {
  const rest = atRest();
  await rest.alarms.read();
  const reported = rest.report();
  rest.answers[0]?.(OK);
  await reported;
  expect(rest.alarm()).toBeNull();
});
