import * as z from "zod";
import { scopeSchema } from "../runtime/protocol/role.ts";
import { secretsOf } from "./configuration.ts";
import { sessionObject, tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { TOKEN_SECONDS_MAX, signToken } from "./session-token.ts";
import { unwrap } from "../runtime/protocol/answer.ts";

const tokenBody = z.strictObject({
  scopes: z.array(scopeSchema).min(1).max(scopeSchema.options.length),
  /** The end user whom the token stands for. */
  sub: z
    .string()
    .min(1)
    .max(128)
    .refine((text) => text.isWellFormed(), "has a lone surrogate")
    .exactOptional(),
  /** In seconds. */
  ttl: z.int().min(1).max(TOKEN_SECONDS_MAX).default(TOKEN_SECONDS_MAX),
});

/** Tokens for browsers and terminals, which must never hold an API key. They are not stored, so none can be listed. */
export const tokenRoutes: readonly Route[] = [
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "POST",
      path: "/v1/sessions/:session/tokens",
      summary: "Issues a token for this session, for an hour at most; it ends with the key that issued it.",
      body: tokenBody,
      responses: { 200: z.object({ token: z.string(), expiresAt: z.number() }) },
      async handle({ environment, caller, act, clock, params, body }) {
        const { tenant, keyId } = caller;
        const { scopes, sub, ttl } = body;
        const { session } = params;
        unwrap(await sessionObject(environment, tenant, session).state());
        unwrap(await tenantObject(environment, tenant).record("token.issue", `session:${session}`, act));
        const exp = Math.floor(clock() / 1_000) + ttl;
        const claims = { tenant, session, key: keyId, scopes, sub, exp };
        const token = await signToken(claims, secretsOf(environment).SIGNING_KEY);
        return { status: 200, body: { token, expiresAt: exp * 1_000 } };
      },
    },
  ),
];
