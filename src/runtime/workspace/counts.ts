import { LightAgentError } from "../protocol/errors.ts";

/** Asserts that numbers of a request are whole and not below a bound. @throws LightAgentError `invalid_request` */
export function requireCounts(numbers: Readonly<Record<string, number | undefined>>, least = 0): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= least)) continue;
    throw new LightAgentError("invalid_request", `\`${name}\` must be a whole number from ${least} on.`);
  }
}
