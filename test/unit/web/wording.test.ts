import { expect, it } from "vitest";
import type { Entry } from "../../../client/index.ts";
import { costText, restoreText, shareText } from "../../../web/wording.ts";

it("[WEB-24] a share is told in percent, and a small one is not nothing", () => {
  expect([0, 1, 1_020, 4_000, 5_000].map((tokens) => shareText(tokens, 4_000))).toEqual([
    "0 %",
    "< 1 %",
    "26 %",
    "100 %",
    "125 %",
  ]);
  expect(shareText(5, 0)).toBe("0 %");
});

it("[WEB-26] a cost is told in dollars, as exactly as it is small", () => {
  expect([0, 42, 123_456, 2_345_678].map(costText)).toEqual(["$0.0000", "< $0.0001", "$0.1235", "$2.35"]);
});

it("[WEB-25] a restore says what went back, to where, and what did not", () => {
  const restore: Extract<Entry, { kind: "restore" }> = {
    key: "9",
    kind: "restore",
    toSeq: 4,
    conversation: true,
    files: true,
    skipped: [],
  };
  expect(restoreText(restore)).toBe("Conversation and files went back to an earlier point.");
  const skipped = [{ path: "a", reason: "changed since" }];
  expect(restoreText({ ...restore, toSeq: 0, conversation: false, skipped })).toBe(
    "The files went back to the beginning. 1 file stayed as it was.",
  );
});
