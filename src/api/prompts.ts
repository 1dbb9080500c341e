import {
  interruptBodySchema,
  interruptReceiptSchema,
  promptBodySchema,
  promptReceiptSchema,
} from "../runtime/protocol/frames.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import { idempotencyKey } from "./idempotency.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";

const DRIVE = { role: "member", scope: "prompt" } as const;

/**
 * The id of a prompt: an `Idempotency-Key` is its promptId.
 * @throws invalid_request when the key is no id, or the body names another one
 */
export function promptIdOf(request: Request, chosen?: string): string | undefined {
  const key = idempotencyKey(request);
  if (key === undefined) return chosen;
  if (!idSchema.safeParse(key).success) {
    throw new LightAgentError("invalid_request", "On a prompt `Idempotency-Key` is the promptId: an id.");
  }
  if (chosen !== undefined && chosen !== key) {
    throw new LightAgentError("invalid_request", "`Idempotency-Key` and `promptId` name different ids.");
  }
  return key;
}

/**
 * What drives a session. The Session object decides what becomes of a prompt; here only its form is checked, so that
 * sockets and REST have the same rules.
 */
export const promptRoutes: readonly Route[] = [
  tenantRoute(DRIVE, {
    method: "POST",
    path: "/v1/sessions/:session/prompt",
    summary: "Prompts the session. The promptId makes it repeatable.",
    body: promptBodySchema,
    responses: { 202: promptReceiptSchema },
    async handle({ environment, request, caller, params, body }) {
      const promptId = promptIdOf(request, body.promptId);
      const session = sessionObject(environment, caller.tenant, params.session);
      return { status: 202, body: unwrap(await session.prompt({ ...body, promptId }, caller.principal)) };
    },
  }),
  tenantRoute(DRIVE, {
    method: "POST",
    path: "/v1/sessions/:session/interrupt",
    summary: "Stops the running turn; without one, or for a turn that is over, nothing happens.",
    body: interruptBodySchema,
    responses: { 200: interruptReceiptSchema },
    async handle({ environment, caller, params, body }) {
      const session = sessionObject(environment, caller.tenant, params.session);
      return { status: 200, body: unwrap(await session.interrupt(body, caller.principal)) };
    },
  }),
];
