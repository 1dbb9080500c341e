import { expect, it } from "vitest";
import { modelRequests, scriptModel } from "./scripted-model.ts";

function complete(model: string, signal?: AbortSignal): Promise<Response> {
  return fetch("http://model.test/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer sk-test" },
    body: JSON.stringify({ model }),
    ...(signal && { signal }),
  });
}

it("[REPO-9] every host but the model's is refused", async () => {
  const response = await fetch("https://example.com/");
  expect(response.status).toBe(599);
  expect(await response.json()).toMatchObject({ error: { message: "example.com" } });
});

it("[REPO-9] the scripted model gives its replies in turn and records what it was asked", async () => {
  await scriptModel("in-turn", [
    { chunks: ["data: 1\n\n", "data: 2\n\n"] },
    { status: 429, headers: { "retry-after": "7" }, chunks: ["slow down"] },
  ]);
  const first = await complete("in-turn");
  expect([first.status, await first.text()]).toEqual([200, "data: 1\n\ndata: 2\n\n"]);
  const second = await complete("in-turn");
  expect([second.status, second.headers.get("retry-after"), await second.text()]).toEqual([
    429,
    "7",
    "slow down",
  ]);
  expect((await complete("in-turn")).status).toBe(404);
  const asked = { body: { model: "in-turn" }, authorization: "Bearer sk-test", aborted: false };
  expect(await modelRequests("in-turn")).toEqual([asked, asked, asked]);
});

it("[REPO-9] the scripted model notices who hangs up, and can break off itself", async () => {
  await scriptModel("breaks", [
    { chunks: ["data: 1\n\n"], ending: "hang" },
    { chunks: ["data: 1\n\n"], ending: "break" },
  ]);
  const caller = new AbortController();
  const reader = (await complete("breaks", caller.signal)).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
  caller.abort();
  await expect(reader?.read()).rejects.toThrow();
  await expect.poll(async () => (await modelRequests("breaks"))[0]?.aborted).toBe(true);
  const broken = await complete("breaks");
  await expect(broken.text()).rejects.toThrow();
  expect((await modelRequests("breaks"))[1]?.aborted).toBe(false);
});
