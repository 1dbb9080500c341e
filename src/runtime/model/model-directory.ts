import type { Dialect, ModelCompat } from "../protocol/agent-definition.ts";
import { LightAgentError } from "../protocol/errors.ts";
import { createDemoProvider } from "./demo/demo-provider.ts";
import type { FetchLike } from "./guarded-fetch.ts";
import type { ModelProvider } from "./model-provider.ts";
import { createOpenAiProvider } from "./openai-provider.ts";
import { createWorkersAiProvider } from "./workers-ai/workers-ai-provider.ts";
import type { AiBinding } from "./workers-ai/workers-ai-provider.ts";

/** A provider that speaks one of OpenAI's wire formats. */
export interface ProviderKey {
  readonly baseUrl: string;
  readonly dialect: Dialect;
  readonly compat: ModelCompat;
  readonly apiKey: () => Promise<string>;
}

/** What a deployment and a tenant know about their models. */
export interface ModelSettings {
  readonly openaiApiKey?: string | undefined;
  readonly openaiBaseUrl?: string | undefined;
  /** @default "chat" */
  readonly openaiDialect?: string | undefined;
  /** In what the deployment's server differs for this model. */
  readonly compat?: ModelCompat | undefined;
  /** The binding to Workers AI, where the deployment has one. */
  readonly ai?: AiBinding | undefined;
  /** The tenant's own provider of a name; it goes before the deployment's. */
  readonly provider?: ((name: string) => ProviderKey | undefined) | undefined;
  /** @default the platform's fetch */
  readonly fetch?: FetchLike;
}

/** `<provider>/<model name>` */
const MODEL_ID = /^([a-z0-9][a-z0-9_-]{0,63})\/(.+)$/;

/**
 * The provider behind a model id: `demo`, `openai/<model name>`, `workers-ai/<model name>`, or `<provider>/<model name>` of a tenant's own.
 * @throws LightAgentError `invalid_request` for an id of no known form, `not_configured` for a missing or bad setting
 */
export function findModel(id: string, settings: ModelSettings): ModelProvider {
  if (id === "demo") return createDemoProvider();
  const [, provider = "", model = ""] = MODEL_ID.exec(id) ?? [];
  if (provider === "" || provider === "demo") {
    const known = "`demo`, `openai/<model name>`, or `<provider>/<model name>` of a provider of your own";
    throw new LightAgentError("invalid_request", `Unknown model: use ${known}.`);
  }
  if (provider === "workers-ai") {
    if (settings.ai) return createWorkersAiProvider(settings.ai, model);
    throw new LightAgentError("not_configured", "Models of `workers-ai/` need the binding AI.");
  }
  const injected = settings.fetch ? { fetch: settings.fetch } : {};
  const own = settings.provider?.(provider);
  if (own) {
    const { compat, ...rest } = own;
    return createOpenAiProvider({ id, model, ...rest, ...compat, ...injected });
  }
  if (provider !== "openai") {
    const message = `There is no model provider \`${provider}\`: store its key under /v1/providers/${provider}.`;
    throw new LightAgentError("not_configured", message);
  }
  const { openaiApiKey, openaiBaseUrl } = settings;
  if (!openaiApiKey) {
    throw new LightAgentError("not_configured", "Models of `openai/` need the setting OPENAI_API_KEY.");
  }
  if (openaiBaseUrl && !isHttpUrl(openaiBaseUrl)) {
    throw new LightAgentError("not_configured", "The setting OPENAI_BASE_URL is not an http or https URL.");
  }
  const dialect = settings.openaiDialect || "chat";
  if (dialect !== "chat" && dialect !== "responses") {
    throw new LightAgentError("not_configured", "The setting OPENAI_DIALECT is `chat` or `responses`.");
  }
  return createOpenAiProvider({
    ...settings.compat,
    model,
    dialect,
    apiKey: openaiApiKey,
    ...(openaiBaseUrl ? { baseUrl: openaiBaseUrl } : {}),
    ...injected,
  });
}

function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}
