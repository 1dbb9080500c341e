import { expect, it } from "vitest";
import { EventStream } from "../../../src/durable/event-stream.ts";
import { Artifacts } from "../../../src/durable/artifacts.ts";
import { Alarms } from "../../../src/durable/alarms.ts";
it("x", () => {
  expect([EventStream, Artifacts, Alarms].length).toBe(3);
});
