import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Page, PageQuery } from "./tenant-management-api.ts";

/** The part of a list that a query asked for. @param rows One more than the limit, when there are more */
export function toPage<Row, T>(
  rows: readonly Row[],
  { limit }: PageQuery,
  view: (row: Row) => T,
  cursorOf: (row: Row) => string,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last !== undefined ? cursorOf(last) : null;
  return { data: shown.map(view), next };
}

/** Where a list that counts down goes on. @throws invalid_request for a cursor that is no number */
export function numberBefore({ cursor }: PageQuery): number {
  if (cursor === null) return Number.MAX_SAFE_INTEGER;
  if (!/^\d{1,15}$/.test(cursor))
    throw new LightAgentError("invalid_request", "The cursor is not from this list.");
  return Number(cursor);
}

/** The refusal of an id that exists with other content. */
export function conflict(what: string, repeatable: boolean): LightAgentError {
  return repeatable
    ? new LightAgentError("idempotency_mismatch", `The ${what} was created by a request with another body.`)
    : new LightAgentError("id_taken", `There is, or was, a ${what} with this id.`);
}
