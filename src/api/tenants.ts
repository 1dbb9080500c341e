import * as z from "zod";
import { idSchema } from "../runtime/protocol/ids.ts";
import { issuedKeyView, keyBody, makeKey } from "./new-key.ts";
import { directoryObject, tenantObject } from "./objects.ts";
import { rootRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { tenantPatch, tenantSummary, tenantView } from "./tenant-settings.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { nameSchema, pageOf, pageQuery } from "./validation.ts";

const FIRST_KEY = { name: "first admin key", role: "admin" } as const;

/**
 * Tenants, for the root key alone. A tenant's own object is the truth of it; the directory only lists, so whatever
 * touches both is ordered so that the same request again completes what was cut off.
 */
export const tenantRoutes: readonly Route[] = [
  rootRoute({
    method: "POST",
    path: "/v1/tenants",
    summary: "Makes a tenant and its first admin key, whose text is shown this once.",
    body: z.strictObject({ id: idSchema, name: nameSchema.default("") }),
    responses: { 201: tenantView.extend({ apiKey: z.string() }) },
    async handle(context) {
      const { environment, act, body } = context;
      const { key, apiKey } = await makeKey(context, body.id, "POST /v1/tenants", FIRST_KEY);
      // The directory first: a tenant that it does not list would never be found again. One that it lists and that
      // was never made is harmless, and the same request again completes it.
      unwrap(await directoryObject(environment).enterTenant(body));
      const input = { ...body, key, repeatable: key.repeatable };
      const view = unwrap(await tenantObject(environment, body.id).create(input, act));
      return { status: 201, body: { ...view, apiKey } };
    },
  }),
  rootRoute({
    method: "GET",
    path: "/v1/tenants",
    summary: "Lists the tenants.",
    query: pageQuery,
    responses: { 200: pageOf(tenantSummary) },
    async handle({ environment, query }) {
      return { status: 200, body: unwrap(await directoryObject(environment).listTenants(query)) };
    },
  }),
  rootRoute({
    method: "GET",
    path: "/v1/tenants/:tenant",
    summary: "A tenant with its overrides of limits and its budget.",
    responses: { 200: tenantView },
    async handle({ environment, params }) {
      return { status: 200, body: unwrap(await tenantObject(environment, params.tenant).describe()) };
    },
  }),
  rootRoute({
    method: "PATCH",
    path: "/v1/tenants/:tenant",
    summary:
      "Changes a tenant's name, limits or budget. Limits of a session are those of when it was created.",
    body: tenantPatch,
    responses: { 200: tenantView },
    async handle({ environment, act, params, body }) {
      const view = unwrap(await tenantObject(environment, params.tenant).update(body, act));
      if (body.name !== undefined) unwrap(await directoryObject(environment).renameTenant(view));
      return { status: 200, body: view };
    },
  }),
  rootRoute({
    method: "DELETE",
    path: "/v1/tenants/:tenant",
    summary: "Deletes a tenant with all that it has. Its id is never used again.",
    responses: { 202: null },
    async handle({ environment, act, params }) {
      unwrap(await tenantObject(environment, params.tenant).describe());
      // In this order, so that a request that was cut off can be repeated: what is gone cannot be asked to go.
      unwrap(await directoryObject(environment).forgetTenant(params.tenant));
      unwrap(await tenantObject(environment, params.tenant).remove(act));
      return { status: 202 };
    },
  }),
  rootRoute({
    method: "POST",
    path: "/v1/tenants/:tenant/keys",
    summary: "Makes an API key for a tenant, for instance when its last admin key is lost.",
    body: keyBody,
    responses: { 201: issuedKeyView },
    async handle(context) {
      const { environment, act, body, params } = context;
      const { key, apiKey } = await makeKey(context, params.tenant, "POST /v1/tenants/:tenant/keys", body);
      const view = unwrap(await tenantObject(environment, params.tenant).createKey(key, act));
      return { status: 201, body: { ...view, apiKey } };
    },
  }),
];
