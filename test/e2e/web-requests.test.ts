import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { launchBrowser } from "./browser.ts";
import { CutOffProxy } from "./cut-off-proxy.ts";
import { ModelServer } from "./model-server.ts";
import type { FakeReply } from "./model-server.ts";
import { ProductProcess } from "./product-process.ts";
import { watchPage } from "./watch-page.ts";

let reply: (results: number) => FakeReply;
let model: ModelServer;
let product: ProductProcess;
let proxy: CutOffProxy;
let browser: Browser;

beforeAll(async () => {
  model = await ModelServer.start(({ messages }) =>
    reply(messages.filter(({ role }) => role === "tool").length),
  );
  product = new ProductProcess({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "fake",
  });
  proxy = await CutOffProxy.start();
  [browser] = await Promise.all([launchBrowser(), product.start()]);
  proxy.target = Number(new URL(product.url).port);
  await product.call("POST", "/v1/agents", {
    id: "careful",
    tools: ["write_file", "ask_user"],
    policy: {
      rules: [{ id: "writes", tool: "write_file", effect: "ask", description: "It changes files." }],
    },
  });
});

afterAll(async () => {
  await browser.close();
  await proxy.stop();
  await product.stop();
  await model.stop();
});

/** A page with a session whose agent asks; `offences` gathers what no page may do. */
async function openSession(id: string, offences: string[]): Promise<Page> {
  await product.call("POST", "/v1/sessions", { id, agent: "careful" });
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
  page.setDefaultTimeout(15_000);
  watchPage(page, proxy.url, offences);
  await page.goto(`${proxy.url}/#key=${product.key}&session=${id}`);
  await page.getByText("Connected").waitFor();
  await page.getByLabel("Prompt", { exact: true }).fill("go");
  await page.keyboard.press("Enter");
  return page;
}

async function ended(session: string): Promise<DurableEvent[]> {
  const read = async (): Promise<DurableEvent[]> => {
    const path = `/v1/sessions/${session}/events?limit=5000`;
    return (await product.call<{ events: DurableEvent[] }>("GET", path)).events;
  };
  await expect.poll(async () => (await read()).at(-1)?.type, { timeout: 15_000 }).toBe("agent_stop");
  const log = await read();
  expect(checkLog(log)).toEqual([]);
  return log;
}

const write = (path: string) => ({ name: "write_file", args: { path, content: "x", _intent: "to write" } });

it("[WEB-21] an approval is answered in its place, also after the server was killed, with edited arguments or not at all", async () => {
  reply = (results) =>
    results === 0 ? { calls: [write("a.txt"), write("b.txt")] } : { text: ["All done."] };
  const offences: string[] = [];
  const page = await openSession("approvals", offences);
  const forms = page.getByRole("form", { name: "May write_file run?" });
  await forms.nth(1).waitFor();
  expect(await forms.first().innerText()).toContain("It changes files.");
  await product.kill();
  await product.start();
  proxy.target = Number(new URL(product.url).port);
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.getByText("Connected").waitFor();

  await forms.first().getByText("Edit arguments").click();
  const box = forms.first().getByLabel("Arguments as JSON");
  await box.fill("not json");
  await forms.first().getByText("Allow with these arguments").click();
  await forms.first().getByText("These arguments are not a JSON object.").waitFor();
  await box.fill('{"path": "edited.txt", "content": "by hand"}');
  await forms.first().getByText("Allow with these arguments").click();
  await expect.poll(() => forms.count()).toBe(1);
  // By keyboard alone.
  await forms.first().getByText("Deny").focus();
  await page.keyboard.press("Enter");
  await page.getByText("All done.").waitFor();

  const log = await ended("approvals");
  const decisions = log.filter((event) => event.type === "approval_resolved");
  expect(decisions.map(({ decision }) => decision)).toEqual(["allow", "deny"]);
  const file = await product.fetch("/v1/workspaces/approvals/files/edited.txt");
  expect(await file.text()).toBe("by hand");
  expect((await product.fetch("/v1/workspaces/approvals/files/a.txt")).status).toBe(404);
  expect(offences.filter((one) => !/WebSocket connection|Failed to load resource/.test(one))).toEqual([]);
  await page.close();
});

it("[WEB-21] a question is answered in its place, by choice and in words", async () => {
  const question = { question: "Which colour?", options: ["red", "<b>blue</b>"], _intent: "to know" };
  reply = (results) =>
    results === 0 ? { calls: [{ name: "ask_user", args: question }] } : { text: ["Thank you."] };
  const offences: string[] = [];
  const page = await openSession("questions", offences);
  const form = page.getByRole("form", { name: "A question for you" });
  await form.getByText("Which colour?").waitFor();
  expect(await form.getByText("Answer", { exact: true }).isDisabled()).toBe(true);
  await form.getByLabel("<b>blue</b>").check();
  await form.getByLabel("Your answer").fill("or green");
  await form.getByText("Answer", { exact: true }).click();
  await page.getByText("Thank you.").waitFor();
  expect(await form.count()).toBe(0);
  const log = await ended("questions");
  expect(log.find((event) => event.type === "input_resolved")).toMatchObject({
    answer: { selected: ["<b>blue</b>"], text: "or green" },
  });
  expect(offences).toEqual([]);
  await page.close();
});
