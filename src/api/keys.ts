import { issuedKeyView, keyBody, keyView, makeKey } from "./new-key.ts";
import { tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf, pageQuery } from "./validation.ts";

const ADMIN = { role: "admin", scope: "none" } as const;

/** A tenant's API keys, for its admins. */
export const keyRoutes: readonly Route[] = [
  tenantRoute(ADMIN, {
    method: "POST",
    path: "/v1/keys",
    summary: "Makes an API key; its text is shown this once.",
    body: keyBody,
    responses: { 201: issuedKeyView },
    async handle(context) {
      const { environment, caller, act, body } = context;
      const { key, apiKey } = await makeKey(context, caller.tenant, "POST /v1/keys", body);
      const view = unwrap(await tenantObject(environment, caller.tenant).createKey(key, act));
      return { status: 201, body: { ...view, apiKey } };
    },
  }),
  tenantRoute(ADMIN, {
    method: "GET",
    path: "/v1/keys",
    summary: "Lists the API keys that stand, without their texts.",
    query: pageQuery,
    responses: { 200: pageOf(keyView) },
    async handle({ environment, caller, query }) {
      return { status: 200, body: unwrap(await tenantObject(environment, caller.tenant).listKeys(query)) };
    },
  }),
  tenantRoute(ADMIN, {
    method: "DELETE",
    path: "/v1/keys/:key",
    summary: "Revokes an API key and every session token that it issued, everywhere within 15 minutes.",
    responses: { 204: null },
    async handle({ environment, credentials, caller, act, params }) {
      unwrap(await tenantObject(environment, caller.tenant).revokeKey(params.key, act));
      credentials.forget(caller.tenant, params.key);
      return { status: 204 };
    },
  }),
];
