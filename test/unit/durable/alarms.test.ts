import { beforeEach, describe, expect, it } from "vitest";
import { Alarms } from "../../../src/durable/alarms.ts";
import type { AlarmStorage } from "../../../src/durable/alarms.ts";

const NOW = 1_000_000;
const MINUTE = 60_000;

let now: number;
let stored: number | null;
let writes: (number | null)[];
let alarms: Alarms;

beforeEach(() => {
  now = NOW;
  stored = null;
  writes = [];
  alarms = new Alarms(storage(), () => now);
});

function storage(): AlarmStorage {
  const write = async (at: number | null): Promise<void> => {
    writes.push(at);
    stored = at;
  };
  return {
    getAlarm: async () => stored,
    setAlarm: async (at: number | Date) => write(Number(at)),
    deleteAlarm: async () => write(null),
  };
}

describe("the alarm of an object", () => {
  it("[TURN-45] is moved earlier, never later", () => {
    alarms.wakeBy(NOW + 30);
    alarms.wakeBy(NOW + 40);
    alarms.wakeBy(NOW + 30);
    expect(writes).toEqual([NOW + 30]);
    alarms.wakeBy(NOW + 20);
    expect(writes).toEqual([NOW + 30, NOW + 20]);
  });

  it("[TURN-45] that an earlier process set counts", async () => {
    stored = NOW + 30;
    await alarms.read();
    alarms.wakeBy(NOW + 40);
    expect(writes).toEqual([]);
    alarms.wakeBy(NOW + 10);
    expect(writes).toEqual([NOW + 10]);
  });

  it("[TURN-45] that has fired is gone, whatever is stored", async () => {
    stored = NOW;
    alarms.fired();
    await alarms.read();
    alarms.wakeBy(NOW + 40);
    expect(writes).toEqual([NOW + 40]);
  });

  it("[TURN-45] is taken away once, and only where one was", async () => {
    await alarms.read();
    alarms.clear();
    expect(writes).toEqual([]);
    alarms.wakeBy(NOW + 30);
    alarms.clear();
    alarms.clear();
    expect(writes).toEqual([NOW + 30, null]);
    alarms.wakeBy(NOW + 50);
    expect(stored).toBe(NOW + 50);
  });

  it("[TURN-43] that should have fired a minute ago is lost, and is set anew; a late one is left alone", async () => {
    stored = NOW - MINUTE + 1;
    await alarms.read();
    alarms.wakeBy(NOW + 40);
    expect(writes).toEqual([]);
    now += 1;
    alarms.wakeBy(NOW + 40);
    expect(writes).toEqual([NOW + 40]);
  });

  it("[LOG-78] is moved earlier when the clock goes back", () => {
    alarms.wakeBy(now + 30_000);
    now -= 86_400_000;
    alarms.wakeBy(now + 30_000);
    expect(stored).toBe(now + 30_000);
  });
});
