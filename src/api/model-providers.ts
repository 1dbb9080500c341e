import * as z from "zod";
import { checkPublicUrl } from "../runtime/guard/public-url.ts";
import { sealSecret } from "../runtime/guard/sealed-secret.ts";
import { dialectSchema, modelCompatSchema } from "../runtime/protocol/agent-definition.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { secretsOf } from "./configuration.ts";
import { tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { pageOf, pageQuery } from "./validation.ts";

const ADMIN = { role: "admin", scope: "none" } as const;

/** Where a key for `openai` goes that names no address. */
const OPENAI_URL = "https://api.openai.com/v1";
/** Providers that the deployment alone can be. */
const RESERVED = ["demo", "scripted", "workers-ai"];

const providerBody = z.strictObject({
  apiKey: z
    .string()
    .min(1)
    .max(4_096)
    .regex(/^[\x21-\x7e]+$/),
  baseUrl: z.string().max(500).exactOptional(),
  dialect: dialectSchema.default("chat"),
  compat: modelCompatSchema.default({}),
});

const providerView = z.object({
  id: z.string(),
  baseUrl: z.string(),
  dialect: dialectSchema,
  compat: modelCompatSchema,
  createdAt: z.number(),
});

const modelFigures = z.object({
  model: z.string(),
  requests: z.int(),
  successes: z.int(),
  failures: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  restsUntil: z.number().nullable(),
});

/** A tenant's own model providers, whose keys are never shown, and what became of its calls. */
export const modelProviderRoutes: readonly Route[] = [
  tenantRoute(ADMIN, {
    method: "PUT",
    path: "/v1/providers/:provider",
    summary: "Stores a model provider of your own with its key; its models are `provider/model`.",
    body: providerBody,
    responses: { 200: providerView },
    async handle({ environment, caller, act, params, body, url }) {
      const { provider } = params;
      if (RESERVED.includes(provider)) {
        throw new LightAgentError("invalid_request", "This provider's name is the deployment's.", {
          provider,
        });
      }
      const address = body.baseUrl ?? (provider === "openai" ? OPENAI_URL : undefined);
      if (address === undefined) throw new LightAgentError("invalid_request", "A provider needs a baseUrl.");
      const baseUrl = checkPublicUrl(address, url.hostname);
      const { ENCRYPTION_KEY } = secretsOf(environment);
      const sealed = await sealSecret(body.apiKey, { tenant: caller.tenant, provider }, ENCRYPTION_KEY);
      const stored = { id: provider, baseUrl, dialect: body.dialect, compat: body.compat, sealed };
      return {
        status: 200,
        body: unwrap(await tenantObject(environment, caller.tenant).putProvider(stored, act)),
      };
    },
  }),
  tenantRoute(ADMIN, {
    method: "GET",
    path: "/v1/providers",
    summary: "Lists the model providers of your own, without their keys.",
    query: pageQuery,
    responses: { 200: pageOf(providerView) },
    async handle({ environment, caller, query }) {
      return {
        status: 200,
        body: unwrap(await tenantObject(environment, caller.tenant).listProviders(query)),
      };
    },
  }),
  tenantRoute(ADMIN, {
    method: "DELETE",
    path: "/v1/providers/:provider",
    summary: "Forgets a provider and its key; a turn that runs keeps it to its end.",
    responses: { 204: null },
    async handle({ environment, caller, act, params }) {
      unwrap(await tenantObject(environment, caller.tenant).removeProvider(params.provider, act));
      return { status: 204 };
    },
  }),
  tenantRoute(ADMIN, {
    method: "GET",
    path: "/v1/models",
    summary: "What became of the calls of each model, and which models rest.",
    query: pageQuery,
    responses: { 200: pageOf(modelFigures) },
    async handle({ environment, caller, query }) {
      return { status: 200, body: unwrap(await tenantObject(environment, caller.tenant).listModels(query)) };
    },
  }),
];
