/** The part of the standard `Headers` that is read here. */
export interface HeaderReader {
  get(name: string): string | null;
}

/**
 * How long a provider asks to wait, in ms from `now`: `retry-after-ms`, or `retry-after` as seconds or as an HTTP
 * date. Undefined when it does not say, or says something else.
 */
export function readRetryAfter(headers: HeaderReader, now: number): number | undefined {
  const ms = numberOf(headers.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const value = headers.get("retry-after");
  const seconds = numberOf(value);
  if (seconds !== undefined) return seconds * 1_000;
  // Only what looks like an HTTP date: `Date.parse` makes one of "-5" too.
  const date =
    value !== null && /^[a-z]{3,9},? .*\d\d:\d\d:\d\d/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** What the provider says of a retry, against what the status implies; undefined when it does not say. */
export function readShouldRetry(headers: HeaderReader): boolean | undefined {
  const value = headers.get("x-should-retry");
  return value === "true" || value === "false" ? value === "true" : undefined;
}

function numberOf(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}
