import type { SessionApi } from "../../durable/session-api.ts";
import { unwrap, unwrapUnless } from "../../runtime/protocol/answer.ts";
import { LightAgentError, isLightAgentError } from "../../runtime/protocol/errors.ts";
import type { Principal } from "../../runtime/protocol/principal.ts";
import { sessionObject } from "../objects.ts";
import { openingOf } from "../open-turn.ts";
import { tenantRoute } from "../route.ts";
import type { Route, TenantContext } from "../route.ts";
import type { TurnQuery } from "../turn-changes.ts";
import { pageOf } from "../validation.ts";
import { wholeLog } from "../whole-log.ts";
import { promptedTurn } from "../turn-prompt.ts";
import { streamTurn } from "../turn-response.ts";
import type { TurnWriter } from "../turn-writer.ts";
import { chatRequestBody, questionAnswer, readChatRequest } from "./chat-request.ts";
import type { ChatRequest } from "./chat-request.ts";
import { promptedAgain } from "./prompt-again.ts";
import { toUiMessageChunks } from "./ui-message-chunks.ts";
import { uiMessageSchema } from "./ui-message-schema.ts";
import { toUiMessages } from "./ui-messages.ts";

const STREAM = ["text/event-stream"] as const;

const WRITER: TurnWriter = {
  write: toUiMessageChunks,
  lost: () => [{ type: "error", errorText: "The session has ended." }],
  closing: "data: [DONE]\n\n",
  headers: { "x-vercel-ai-ui-message-stream": "v1", "x-accel-buffering": "no" },
};

/**
 * The AI SDK's chat protocol, so that `useChat` works unchanged with `api: "/v1/sessions/<session>/ai-sdk"`. The
 * server owns the history: of the messages that a client sends only the last one counts.
 */
export const aiSdkRoutes: readonly Route[] = [
  tenantRoute(
    { role: "member", scope: "prompt" },
    {
      method: "POST",
      path: "/v1/sessions/:session/ai-sdk",
      summary:
        "For the AI SDK's `useChat`: takes its request, a message or answers to approvals and questions, and streams the turn as UI message chunks.",
      body: chatRequestBody,
      responses: { 200: STREAM },
      async handle(context) {
        const { environment, caller, params, body } = context;
        const asked = readChatRequest(body);
        const session = sessionObject(environment, caller.tenant, params.session);
        const query =
          asked.type === "prompt"
            ? await prompt(session, asked, caller.principal)
            : await answer(context, session, asked);
        return streamTurn(context, session, query, WRITER);
      },
    },
  ),
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/ai-sdk/:chat/stream",
      summary:
        "For `resume` of `useChat`: the turn that runs or waits, from its beginning on; 204 between turns.",
      responses: { 200: STREAM, 204: null },
      async handle(context) {
        const { environment, caller, params } = context;
        const session = sessionObject(environment, caller.tenant, params.session);
        const opening = await openingOf(session, unwrap(await session.state()));
        if (opening === null) return { status: 204 };
        const query = { after: opening.seq - 1, of: { turn: opening.turn } };
        return streamTurn(context, session, query, WRITER);
      },
    },
  ),
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/ai-sdk/messages",
      summary: "The conversation as UI messages, for `useChat` to begin with.",
      responses: { 200: pageOf(uiMessageSchema) },
      async handle({ environment, caller, params }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        return { status: 200, body: { data: toUiMessages(await wholeLog(session)), next: null } };
      },
    },
  ),
];

/** Prompts once for each message, and again for one that is regenerated or whose words were changed. */
async function prompt(
  session: SessionApi,
  asked: Extract<ChatRequest, { type: "prompt" }>,
  by: Principal,
): Promise<TurnQuery> {
  if (asked.again === "always") return promptedAgain(session, asked, by);
  try {
    return await promptedTurn(session, asked, by);
  } catch (caught) {
    const changed = isLightAgentError(caught) && caught.code === "idempotency_mismatch";
    if (!changed || asked.again === "never") throw caught;
    return promptedAgain(session, asked, by);
  }
}

/**
 * Gives a turn that waited its answers, each once, and follows it from the first of them on. An answer of somebody
 * else that came first is no error: the stream shows what it was.
 */
async function answer(
  { caller }: TenantContext,
  session: SessionApi,
  { reply, answers }: Extract<ChatRequest, { type: "answers" }>,
): Promise<TurnQuery> {
  if (!caller.scopes.includes("decide")) {
    throw new LightAgentError("forbidden", "This needs the scope decide.");
  }
  const { approvals, outputs } = answers;
  const resumeAt = new Set([...approvals.map(({ id }) => id), ...outputs.map(({ callId }) => callId)]);
  if (resumeAt.size === 0) {
    throw new LightAgentError("invalid_request", "The reply holds no answer to an approval or a question.");
  }
  for (const { id, approved, reason } of approvals) {
    const decision = approved ? ("allow" as const) : ("deny" as const);
    const body = { decision, ...(reason !== undefined && { reason }) };
    unwrapUnless("already_decided", await session.decide(id, body, caller.principal));
  }
  const open = outputs.length === 0 ? [] : unwrap(await session.requests());
  for (const { callId, output } of outputs) {
    const question = open.find((request) => request.type === "input_request" && request.callId === callId);
    if (question?.type !== "input_request") continue;
    unwrapUnless(
      "already_decided",
      await session.answerQuestion(question.inputId, questionAnswer(output), caller.principal),
    );
  }
  return { after: reply.firstSeq - 1, of: { turn: reply.turn }, resumeAt };
}
