import { expect, it } from "vitest";
import { completeDevVars, parseDevVars } from "../../../scripts/dev-vars.ts";

const NAMES = ["ROOT_KEY", "SIGNING_KEY", "ENCRYPTION_KEY"];

function counter(): () => string {
  let count = 0;
  return () => `key-${(count += 1)}`;
}

it("[START-1] an absent file gets a key of its own for each name", () => {
  const vars = parseDevVars(completeDevVars("", counter()));
  expect(NAMES.map((name) => vars[name])).toEqual(["key-1", "key-2", "key-3"]);
});

it("[START-1] lines that are there stay, and what is missing is added below", () => {
  const before = "# mine\nOPENAI_API_KEY='sk=1'\nSIGNING_KEY=kept";
  const after = completeDevVars(before, counter());
  expect(after.startsWith(`${before}\n`)).toBe(true);
  expect(parseDevVars(after)).toEqual({
    OPENAI_API_KEY: "sk=1",
    SIGNING_KEY: "kept",
    ROOT_KEY: "key-1",
    ENCRYPTION_KEY: "key-2",
  });
});

it("[START-1] an empty key counts as missing, and the added line is the one that holds", () => {
  const after = completeDevVars('ROOT_KEY=""\nSIGNING_KEY=b\nENCRYPTION_KEY=c\n', counter());
  expect(parseDevVars(after)).toEqual({ ROOT_KEY: "key-1", SIGNING_KEY: "b", ENCRYPTION_KEY: "c" });
});

it("[START-1] a complete file is not changed", () => {
  const complete = completeDevVars("", counter());
  expect(completeDevVars(complete, counter())).toBe(complete);
});
