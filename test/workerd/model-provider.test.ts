import { expect, it, vi } from "vitest";
import { createOpenAiProvider } from "../../src/runtime/model/openai-provider.ts";
import { streamOf } from "../../src/runtime/model/stream-of.ts";
import { expectOutcome, FIXTURE_STREAMS } from "../unit/model/fixture-streams.ts";
import { ASK, fetchOf, readStream } from "../unit/model/streamed.ts";
import { chatReply } from "./model-replies.ts";
import { modelRequests, scriptModel } from "./scripted-model.ts";

// In workerd as well as in Node, since the two runtimes read bodies and report broken sockets differently.

function provider(model: string): ReturnType<typeof createOpenAiProvider> {
  return createOpenAiProvider({ model, apiKey: "sk-test", baseUrl: "http://model.test/v1" });
}

it.each(FIXTURE_STREAMS)("[MODEL-1] $name in workerd", async ({ name, body, expect: expected }) => {
  const model = `stream-${name}`;
  await scriptModel(model, [
    body === null ? chatReply({ text: ["par"], ending: "break" }) : { chunks: [body] },
  ]);
  expectOutcome(await readStream(streamOf(provider(model), ASK, new AbortController().signal)), expected);
});

it("[MODEL-12] keep-alives are seen in workerd", async () => {
  const fetch = fetchOf([": ping\n\n", "data:\n\n", ...chatReply({ text: ["h", "i"] }).chunks]);
  const options = { model: "m", apiKey: "sk-test", baseUrl: "http://model.test/v1", fetch };
  const stream = streamOf(createOpenAiProvider(options), ASK, new AbortController().signal);
  const { alive, deltas, reply } = await readStream(stream);
  expect(deltas.map((delta) => delta.text)).toEqual(["h", "i"]);
  expect(reply?.finishReason).toBe("stop");
  // Both of them, the chunk with the finish reason and the one with the usage.
  expect(alive).toBe(4);
});

it("[MODEL-17] an abort closes the upstream socket in workerd", async () => {
  await scriptModel("aborted", [chatReply({ text: ["par"], ending: "hang" })]);
  const controller = new AbortController();
  const reading = (async () => {
    for await (const _item of streamOf(provider("aborted"), ASK, controller.signal)) controller.abort();
  })();
  await expect(reading).rejects.toThrow();
  await vi.waitFor(async () => expect(await modelRequests("aborted")).toMatchObject([{ aborted: true }]));
});

it("[MODEL-18] no redirect is followed in workerd", async () => {
  await scriptModel("redirect", [
    { status: 307, headers: { location: "http://model.test/v1/chat/completions" }, chunks: [""] },
  ]);
  const { error } = await readStream(streamOf(provider("redirect"), ASK, new AbortController().signal));
  expect([error?.modelCode, error?.status]).toEqual(["model_rejected", 307]);
  expect(await modelRequests("redirect")).toHaveLength(1);
});
