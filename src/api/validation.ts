import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { ErrorCode } from "../runtime/protocol/errors.ts";

/** Problems that are named in one answer. */
const SHOWN_ISSUES = 10;

/** Query fields whose errors have a code of their own. */
const CODES: Readonly<Record<string, ErrorCode>> = { after: "invalid_cursor" };

/**
 * A value from outside in the form that a schema describes.
 * @param where What the value is, for the message: `body` or `query`
 * @throws invalid_request (invalid_cursor for `after`) with the problems in its details
 */
export function check<S extends z.ZodType>(schema: S, value: unknown, where: "body" | "query"): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, SHOWN_ISSUES)
    .map(({ path, message }) => ({ path: path.join("."), message }));
  const [first] = issues;
  const code = (where === "query" && first && CODES[first.path]) || "invalid_request";
  const at = first?.path ? ` at ${first.path}` : "";
  throw new LightAgentError(code, `The ${where} is not valid${at}: ${first?.message ?? "unknown"}.`, {
    issues,
  });
}

/** The fields of a query string. @throws invalid_request for a field that is named twice */
export function queryFields(url: URL): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (fields.has(name)) {
      throw new LightAgentError("invalid_request", "A query field is named twice.");
    }
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** A query field that is a whole number, in decimal digits alone. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, "expected a whole number")
    .transform(Number)
    .pipe(z.int().min(min).max(max));
}

/** A query field that lists names, separated by commas. */
export function commaList<S extends z.ZodType<string, string>>(name: S) {
  return z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(name).max(100));
}

/** The query of a list. */
export const pageQuery = z
  .strictObject({
    limit: wholeNumber(1, 200).default(50),
    cursor: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,1000}$/, "expected the `next` of the part before")
      .nullable()
      .default(null),
  })
  .readonly();

/** The form of a list's answer. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.object({ data: z.array(item).readonly(), next: z.string().nullable() });
}

/** A name or title that people read: storage would change lone surrogates, so they are refused. */
export const nameSchema = z
  .string()
  .max(200)
  .refine((text) => text.isWellFormed(), "has a lone surrogate");
