import { expect, it } from "vitest";
import { summary } from "../../../scripts/test-summary.ts";

it("[REPO-8] counts the tests of all files", () => {
  const testResults = [
    { status: "passed", assertionResults: [{ status: "passed" }, { status: "passed" }] },
    { status: "failed", assertionResults: [{ status: "failed" }, { status: "passed" }] },
  ];
  expect(summary({ numPassedTests: 3, numFailedTests: 1, testResults })).toBe("3 passed, 1 failed");
});

it("[REPO-8] a file that does not load is a failure", () => {
  const testResults = [{ status: "failed", assertionResults: [] }];
  expect(summary({ numPassedTests: 0, numFailedTests: 0, testResults })).toBe("0 passed, 1 failed");
});

it("[REPO-8] a run that ended before its tests is a failure", () => {
  expect(summary(undefined)).toBe("0 passed, 1 failed");
});
