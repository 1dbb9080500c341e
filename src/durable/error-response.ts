import { ERROR_CODES } from "../runtime/protocol/errors.ts";
import type { ErrorBody } from "../runtime/protocol/errors.ts";

/** An error as the HTTP answer of an object's `fetch`, in the form of all the product's errors. */
export function errorResponse(error: ErrorBody, headers?: HeadersInit): Response {
  return Response.json(
    { error },
    { status: ERROR_CODES[error.code].status || 500, ...(headers && { headers }) },
  );
}
