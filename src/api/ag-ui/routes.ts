import * as z from "zod";
import type { SessionApi } from "../../durable/session-api.ts";
import { unwrap } from "../../runtime/protocol/answer.ts";
import { LightAgentError } from "../../runtime/protocol/errors.ts";
import { idSchema } from "../../runtime/protocol/ids.ts";
import { derivedId } from "../derived-id.ts";
import type { Fetches } from "../environment.ts";
import { sessionObject } from "../objects.ts";
import { tenantRoute } from "../route.ts";
import type { Route, TenantContext } from "../route.ts";
import { createSession } from "../session-creation.ts";
import { promptedTurn } from "../turn-prompt.ts";
import { streamTurn } from "../turn-response.ts";
import { connect } from "./connect.ts";
import { newRun } from "./run-events.ts";
import { messagesOf, readRunRequest, runAgentInput } from "./run-request.ts";
import { resumedTurn } from "./resume.ts";
import { runWriter } from "./run-writer.ts";

const STREAM = ["text/event-stream"] as const;

/**
 * The AG-UI protocol, so that its `HttpAgent`, and with it CopilotKit, works unchanged. A thread is a session, a run
 * shows a turn, or the part of one between two interrupts. The server owns the history: of a run's messages only a
 * last one of the user counts.
 */
export const agUiRoutes: readonly Route[] = [
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "POST",
      path: "/v1/ag-ui",
      summary: "Runs an AG-UI agent: the thread is the session of that id, made with its first run.",
      query: z.strictObject({ agent: idSchema.exactOptional() }),
      body: runAgentInput,
      responses: { 200: STREAM },
      async handle(context) {
        const id = await derivedId(context.body.threadId);
        return run(context, await sessionOf(context, id, context.query.agent), context.body);
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "prompt" },
    {
      method: "POST",
      path: "/v1/sessions/:session/ag-ui",
      summary:
        "Runs an AG-UI agent in this session, whatever the thread's id; for browsers with a session token.",
      body: runAgentInput,
      responses: { 200: STREAM },
      handle(context) {
        const { environment, caller, params, body } = context;
        return run(context, sessionObject(environment, caller.tenant, params.session), body);
      },
    },
  ),
];

/** The thread's session, made when there is none. */
async function sessionOf(
  context: TenantContext,
  id: string,
  agent: string | undefined,
): Promise<SessionApi & Fetches> {
  const session = sessionObject(context.environment, context.caller.tenant, id);
  const state = await session.state();
  if (!state.ok && state.error.code === "not_found") {
    await createSession(context, { id, repeatable: true }, agent === undefined ? {} : { agent });
  } else unwrap(state);
  return session;
}

async function run(
  context: TenantContext,
  session: SessionApi & Fetches,
  input: z.output<typeof runAgentInput>,
): Promise<Response> {
  const { caller } = context;
  const asked = readRunRequest(input);
  const begun = newRun(input, messagesOf(input));
  if (asked.type === "connect") return connect(context, session, begun);
  if (asked.type === "resume" && !caller.scopes.includes("decide")) {
    throw new LightAgentError("forbidden", "This needs the scope decide.");
  }
  const query =
    asked.type === "resume"
      ? await resumedTurn(session, asked.entries, caller.principal)
      : await promptedTurn(session, asked, caller.principal);
  return streamTurn(context, session, query, runWriter(begun));
}
