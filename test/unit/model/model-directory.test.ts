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
});
