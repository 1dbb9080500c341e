import { expect, it } from "vitest";
import { classify } from "../../../src/api/responses.ts";

it.each([
  "Durable Object reset because its code was updated.",
  "This script has been upgraded. Please send a new request to connect to the new version.",
  "Network connection lost.",
  "SqlError: Network connection lost.",
])("[API-3] an object that a deploy has taken away does not answer for now: %s", (message) => {
  expect(classify(new Error(message))).toMatchObject({
    code: "unavailable",
    details: { retryAfterMs: 1_000 },
  });
});

it("[API-3] what is unknown stays so", () => {
  const caught = new Error("db failed for key sk-live");
  expect(classify(caught)).toBe(caught);
});
