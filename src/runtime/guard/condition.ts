import type { Condition } from "../protocol/policy-definition.ts";
import { pathGlob } from "./path-glob.ts";
import type { PolicyRegexes } from "./policy-regexes.ts";

/** Whether a value, which is there, is as a condition wants it. */
export type ValueTest = (value: unknown) => boolean;

/** @throws LightAgentError `invalid_request` for a regular expression that cannot be compiled */
export async function compileCondition(condition: Condition, regexes: PolicyRegexes): Promise<ValueTest> {
  if (typeof condition !== "object") return (value) => value === condition;
  const { equals, in: values, startsWith, contains, glob, regex, not } = condition;
  const tests: ValueTest[] = [];
  if (equals !== undefined) tests.push((value) => value === equals);
  if (values !== undefined) tests.push((value) => values.some((one) => one === value));
  if (startsWith !== undefined) tests.push(ofText((text) => text.startsWith(startsWith)));
  if (contains !== undefined) tests.push(ofText((text) => text.includes(contains)));
  if (glob !== undefined) tests.push(ofText(pathGlob(glob)));
  if (regex !== undefined) tests.push(ofText(await regexes.compile(regex)));
  if (not !== undefined) {
    const negated = await compileCondition(not, regexes);
    tests.push((value) => !negated(value));
  }
  return (value) => tests.every((test) => test(value));
}

function ofText(test: (text: string) => boolean): ValueTest {
  return (value) => typeof value === "string" && test(value);
}
