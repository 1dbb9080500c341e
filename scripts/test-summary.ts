/**
 * Prints the outcome of a test run as one line, from vitest's JSON report: `node test-summary.ts <report>`.
 * A run that failed before its tests, so without a report, counts as one failure.
 */
import { existsSync, readFileSync } from "node:fs";

/** The part of the report that is read. */
export interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/** `N passed, N failed`; a file that failed without a failed test, such as one that does not load, counts as one. */
export function summary(report: Report | undefined): string {
  if (report === undefined) return "0 passed, 1 failed";
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  return `${report.numPassedTests} passed, ${report.numFailedTests + brokenFiles.length} failed`;
}

if (import.meta.main) {
  const [, , path = ""] = process.argv;
  console.log(summary(existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Report) : undefined));
}
