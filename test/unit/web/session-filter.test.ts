import { expect, it } from "vitest";
import { NO_FILTER, filtered, isFiltering } from "../../../web/session-filter.ts";
import { sessionState } from "../support/fake-sockets.ts";

const session = (id: string, title: string, more: Partial<ReturnType<typeof sessionState>> = {}) =>
  sessionState({ id, title, ...more });

const LIST = [
  session("a", "Café prices"),
  session("b", "Prices of tea", { agent: "coder", status: "waiting" }),
  session("c", "Quarterly report", { agent: "coder", status: "running" }),
];
const found = (text: string, status: "all" | "idle" | "running" | "waiting" = "all"): string[] =>
  filtered(LIST, { text, status }).map(({ id }) => id);

it("[WEB-28] sessions are found by all words of title and agent, whatever their case and accents, and by status", () => {
  expect(found("")).toEqual(["a", "b", "c"]);
  expect(found("PRICES")).toEqual(["a", "b"]);
  expect(found(" cafe  price ")).toEqual(["a"]);
  expect(found("coder report")).toEqual(["c"]);
  expect(found("nothing")).toEqual([]);
  expect(found("", "waiting")).toEqual(["b"]);
  expect(found("tea", "running")).toEqual([]);
  expect([isFiltering(NO_FILTER), isFiltering({ ...NO_FILTER, text: "  " })]).toEqual([false, false]);
  expect([isFiltering({ ...NO_FILTER, text: "x" }), isFiltering({ ...NO_FILTER, status: "idle" })]).toEqual([
    true,
    true,
  ]);
});

it("[WEB-28] a status that is known better than the list knows it counts", () => {
  const ids = filtered(LIST, { text: "", status: "waiting" }, ({ id, status }) =>
    id === "c" ? "waiting" : status,
  );
  expect(ids.map(({ id }) => id)).toEqual(["b", "c"]);
});
