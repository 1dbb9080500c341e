import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import { STREAM_TYPES, streamEvents, streamFormatOf } from "./event-stream.ts";
import { createId } from "./idempotency.ts";
import { sessionObject } from "./objects.ts";
import { promptIdOf } from "./prompts.ts";
import { tenantRoute } from "./route.ts";
import type { Route, TenantContext } from "./route.ts";
import { createSession } from "./session-creation.ts";
import { unwrap } from "../runtime/protocol/answer.ts";

const chatBody = z.strictObject({
  session: idSchema.exactOptional(),
  agent: idSchema.exactOptional(),
  text: z.string().min(1),
});

/**
 * One call for a whole exchange. It is a prompt like any other: when the reader hangs up, the turn goes on, and the
 * same call with the same `Idempotency-Key` reads it again.
 */
export const chatRoutes: readonly Route[] = [
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "POST",
      path: "/v1/chat",
      summary: "Prompts a session, a new one when none is named, and streams until that prompt's outcome.",
      body: chatBody,
      responses: { 200: STREAM_TYPES },
      async handle(context) {
        const { environment, request, caller, body, newId } = context;
        const promptId = promptIdOf(request) ?? newId();
        const { id, head } = await sessionFor(context, body);
        const session = sessionObject(environment, caller.tenant, id);
        const receipt = unwrap(await session.prompt({ text: body.text, promptId }, caller.principal));
        // A prompt that is repeated was accepted at an earlier head.
        const after = Math.min(head, receipt.head);
        const format = streamFormatOf(request) ?? "ndjson";
        const response = await streamEvents(context, session, { format, after, until: promptId });
        response.headers.set("x-session-id", id);
        return response;
      },
    },
  ),
];

/** The session to prompt, and where its log ended before. */
async function sessionFor(
  context: TenantContext,
  { session, agent }: z.output<typeof chatBody>,
): Promise<{ id: string; head: number }> {
  const { environment, caller } = context;
  if (session === undefined) {
    const created = await createId(context, caller.tenant, "POST /v1/chat");
    await createSession(context, created, agent === undefined ? {} : { agent });
    return { id: created.id, head: 0 };
  }
  if (agent !== undefined) {
    throw new LightAgentError(
      "invalid_request",
      "`agent` is for a new session; `session` names one that has its own.",
    );
  }
  const { head } = unwrap(await sessionObject(environment, caller.tenant, session).state());
  return { id: session, head };
}
