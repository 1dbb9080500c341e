import * as z from "zod";
import { contentPartSchema } from "../runtime/protocol/content.ts";
import { sessionObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf } from "./validation.ts";

const replyBlock = z.object({
  kind: z.enum(["thought", "text"]),
  text: z.string(),
  providerData: z.record(z.string(), z.unknown()).readonly().exactOptional(),
});

const modelCall = z.object({
  id: z.string(),
  name: z.string(),
  args: z.record(z.string(), z.unknown()).readonly(),
});

const modelMessage = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), content: z.array(contentPartSchema).readonly() }),
  z.object({
    role: z.literal("assistant"),
    blocks: z.array(replyBlock).readonly(),
    calls: z.array(modelCall).readonly(),
  }),
  z.object({
    role: z.literal("tool"),
    callId: z.string(),
    name: z.string(),
    content: z.string(),
    isError: z.boolean(),
  }),
]);

/** The folded conversation, for back ends that do not want to fold the log themselves. */
export const messageRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/messages",
      summary: "The conversation as the model would be given it: the log, folded.",
      responses: { 200: pageOf(modelMessage) },
      async handle({ environment, caller, params }) {
        const data = unwrap(await sessionObject(environment, caller.tenant, params.session).messages());
        return { status: 200, body: { data, next: null } };
      },
    },
  ),
];
