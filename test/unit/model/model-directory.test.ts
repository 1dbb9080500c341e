import { expect, it } from "vitest";
import { findModel } from "../../../src/runtime/model/model-directory.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import { isLightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { ASK, readStream } from "./streamed.ts";

/** Code and message of what finding a model throws. */
function failure(id: string, settings = {}): [string, string] {
  try {
    findModel(id, settings);
  } catch (caught) {
    if (isLightAgentError(caught)) return [caught.code, caught.message];
  }
  throw new Error("expected a LightAgentError");
}

it("[MODEL-29] `demo` needs no setting", () => {
  expect(findModel("demo", {}).id).toBe("demo");
});

it("[MODEL-29] `openai/<name>` calls the model of that name with the settings", async () => {
  const asked: { url: string; body: unknown; key: string | null }[] = [];
  const settings = {
    openaiApiKey: "sk-1",
    openaiBaseUrl: "https://models.example.com/v1/",
    fetch: async (url: string, init: RequestInit) => {
      const key = new Headers(init.headers).get("authorization");
      asked.push({ url, key, body: await new Response(init.body ?? null).json() });
      return new Response("", { status: 500 });
    },
  };
  const provider = findModel("openai/vendor/model-1", settings);
  expect(provider.id).toBe("openai/vendor/model-1");
  await readStream(streamOf(provider, ASK, new AbortController().signal));
  expect(asked).toMatchObject([
    {
      url: "https://models.example.com/v1/chat/completions",
      key: "Bearer sk-1",
      body: { model: "vendor/model-1" },
    },
  ]);
});

it.each(["", "gpt-5", "openai/", "openai", "demo/x", "constructor"])("[MODEL-29] %o is unknown", (id) => {
  const [code, message] = failure(id, { openaiApiKey: "sk-1" });
  expect(code).toBe("invalid_request");
  expect(message).toContain("`demo`");
  expect(message).toContain("`openai/");
});

it("[MODEL-29] a missing key and a bad base URL are named", () => {
  expect(failure("openai/m", { openaiApiKey: "" })).toEqual([
    "not_configured",
    expect.stringContaining("OPENAI_API_KEY"),
  ]);
  const badUrl = { openaiApiKey: "sk-1", openaiBaseUrl: "models.example.com" };
  expect(failure("openai/m", badUrl)).toEqual(["not_configured", expect.stringContaining("OPENAI_BASE_URL")]);
  const badDialect = { openaiApiKey: "sk-1", openaiDialect: "soap" };
  expect(failure("openai/m", badDialect)).toEqual([
    "not_configured",
    expect.stringContaining("OPENAI_DIALECT"),
  ]);
});

it("[MODEL-29] a provider of the tenant's own goes before the deployment's, and one that nobody has is named", async () => {
  const urls: string[] = [];
  const settings = {
    openaiApiKey: "sk-1",
    provider: (name: string) =>
      name === "acme" || name === "openai"
        ? {
            baseUrl: `https://${name}.dev/v1`,
            dialect: "responses" as const,
            compat: {},
            apiKey: async () => "sk-2",
          }
        : undefined,
    fetch: async (url: string) => {
      urls.push(url);
      return new Response("", { status: 500 });
    },
  };
  for (const id of ["acme/vendor/m", "openai/m"]) {
    const provider = findModel(id, settings);
    expect(provider.id).toBe(id);
    await readStream(streamOf(provider, ASK, new AbortController().signal));
  }
  expect(urls).toEqual(["https://acme.dev/v1/responses", "https://openai.dev/v1/responses"]);
  expect(failure("other/m", settings)).toEqual([
    "not_configured",
    expect.stringContaining("/v1/providers/other"),
  ]);
});
