import { LightAgentError } from "../runtime/protocol/errors.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import type { RequestContext } from "./route.ts";

/** The id of what is to be created. */
export interface CreateId {
  readonly id: string;
  /** The same request again is to be answered like the first. */
  readonly repeatable: boolean;
}

const FORM = /^[\x21-\x7e]{1,255}$/;
const ID_LENGTH = 40;

/** The request's `Idempotency-Key`, if it has one. @throws invalid_request */
export function idempotencyKey(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (FORM.test(key)) return key;
  throw new LightAgentError("invalid_request", "`Idempotency-Key` is 1 to 255 visible ASCII characters.");
}

/**
 * The id of a create: the chosen one, else one that follows from tenant, route and `Idempotency-Key`, so that a
 * repeated request meets what the first has made, else a new one.
 * @param tenant Empty for routes of the root key
 */
export async function createId(
  context: RequestContext,
  tenant: string,
  route: string,
  chosen?: string,
): Promise<CreateId> {
  const key = idempotencyKey(context.request);
  if (key === undefined) return { id: chosen ?? context.newId(), repeatable: false };
  const id = chosen ?? (await sha256Hex(`${tenant}\n${route}\n${key}`)).slice(0, ID_LENGTH);
  return { id, repeatable: true };
}
