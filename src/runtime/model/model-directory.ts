import { LightAgentError } from "../protocol/errors.ts";
import { createDemoProvider } from "./demo/demo-provider.ts";
import type { FetchLike } from "./guarded-fetch.ts";
import type { ModelProvider } from "./model-provider.ts";
import { createOpenAiProvider } from "./openai-provider.ts";

/** What a deployment knows about its models. */
export interface ModelSettings {
  readonly openaiApiKey?: string | undefined;
  readonly openaiBaseUrl?: string | undefined;
  /** @default the platform's fetch */
  readonly fetch?: FetchLike;
}

const OPENAI = "openai/";

/**
 * The provider behind a model id: `demo`, or `openai/<model name>`.
 * @throws LightAgentError `invalid_request` for an id of no known form, `not_configured` for a missing or bad setting
 */
export function findModel(id: string, settings: ModelSettings): ModelProvider {
  if (id === "demo") return createDemoProvider();
  const model = id.startsWith(OPENAI) ? id.slice(OPENAI.length) : "";
  if (model === "") {
    throw new LightAgentError("invalid_request", "Unknown model: use `demo` or `openai/<model name>`.");
  }
  const { openaiApiKey, openaiBaseUrl } = settings;
  if (!openaiApiKey) {
    throw new LightAgentError("not_configured", "Models of `openai/` need the setting OPENAI_API_KEY.");
  }
  if (openaiBaseUrl && !isHttpUrl(openaiBaseUrl)) {
    throw new LightAgentError("not_configured", "The setting OPENAI_BASE_URL is not an http or https URL.");
  }
  return createOpenAiProvider({
    model,
    apiKey: openaiApiKey,
    ...(openaiBaseUrl ? { baseUrl: openaiBaseUrl } : {}),
    ...(settings.fetch ? { fetch: settings.fetch } : {}),
  });
}

function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}
