import { expect, it } from "vitest";
import { Product } from "./product.ts";
import { runTurn, writes } from "./time-travel.ts";

interface Traced {
  turn: number;
  spans: { name: string; parentSpanId?: string; endTimeUnixNano?: string }[];
}

it("[TRACE-3] tells the last turn, or the one that is asked for, and none that has not been", async () => {
  const product = await Product.create();
  const session = await product.session([...writes({ "a.txt": "a" }), { text: ["two"] }]);
  const trace = (query = "") => product.call<Traced>("GET", `${session.path}/trace${query}`);
  expect(await trace()).toMatchObject({ status: 200, body: { turn: 0, spans: [] } });
  await runTurn(session, 1);
  await runTurn(session, 2);
  const last = await trace();
  expect(last.body.turn).toBe(2);
  const [, second] = last.body.spans;
  expect(last.body.spans.map(({ name }) => name.split(" ")[0])).toEqual(["invoke_agent", "chat"]);
  expect(second?.parentSpanId).toMatch(/^[0-9a-f]{16}$/);
  const first = await trace("?turn=1");
  expect(first.body.spans.map(({ name }) => name.split(" ")[0])).toEqual([
    "invoke_agent",
    "chat",
    "execute_tool",
    "chat",
  ]);
  expect(first.body.spans.every(({ endTimeUnixNano }) => endTimeUnixNano !== undefined)).toBe(true);
  expect((await trace("?turn=3")).status).toBe(404);
  for (const turn of ["0", "-1", "x", "1&x=1"]) expect((await trace(`?turn=${turn}`)).status).toBe(400);
});
