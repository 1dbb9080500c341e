import { readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RestClient, SessionStore } from "../../client/index.ts";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { launchBrowser } from "./browser.ts";
import { CutOffProxy } from "./cut-off-proxy.ts";
import { ModelServer } from "./model-server.ts";
import type { FakeReply } from "./model-server.ts";
import { ProductProcess } from "./product-process.ts";
import { makeSampleFolder } from "./sample-folder.ts";
import { watchPage } from "./watch-page.ts";

const SECRET_HOST = "collector.test";
/** Bytes of script, gzipped, that a first visit loads at most. */
const SCRIPT_CEILING = 120_000;

let answer: (prompt: string, results: number) => FakeReply;
let model: ModelServer;
let product: ProductProcess;
let proxy: CutOffProxy;
let browser: Browser;
let folder: string;
/** What no page may do: errors on its console, requests to elsewhere, dialogs. */
let offences: string[];
let expected: RegExp | null;
let close: (() => Promise<void>)[];

beforeAll(async () => {
  model = await ModelServer.start(({ messages }) => {
    const prompt = messages.findLast(({ role }) => role === "user");
    const since = messages.slice(prompt ? messages.lastIndexOf(prompt) : 0);
    return answer(JSON.stringify(prompt?.content ?? ""), since.filter(({ role }) => role === "tool").length);
  });
  product = new ProductProcess({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "fake",
  });
  proxy = await CutOffProxy.start();
  [browser] = await Promise.all([launchBrowser(), product.start()]);
  proxy.target = portOf(product.url);
  folder = makeSampleFolder();
});

afterAll(async () => {
  await browser.close();
  await proxy.stop();
  await product.stop();
  await model.stop();
  rmSync(dirname(folder), { recursive: true });
});

beforeEach(() => {
  offences = [];
  expected = null;
  close = [];
  answer = () => ({ text: ["Fine."] });
});

afterEach(async () => {
  for (const one of close) await one();
  expect(offences.filter((offence) => !expected?.test(offence))).toEqual([]);
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** A page of its own, not signed in. */
async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  close.push(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  watchPage(page, proxy.url, offences);
  return page;
}

/** A page with a session of its own, signed in by link. */
async function openSession(options?: BrowserContextOptions, session: object = {}): Promise<Page> {
  const { id } = await product.call<{ id: string }>("POST", "/v1/sessions", session);
  const page = await openPage(options);
  await page.goto(`${proxy.url}/#key=${product.key}&session=${id}`);
  await page.getByText("Connected").waitFor();
  return page;
}

async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel("Prompt", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** The log of the session that a page shows; it has passed the grammar checker. */
async function logOf(page: Page): Promise<DurableEvent[]> {
  const id = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("session");
  const { events } = await product.call<{ events: DurableEvent[] }>(
    "GET",
    `/v1/sessions/${id}/events?limit=5000`,
  );
  expect(checkLog(events)).toEqual([]);
  return events;
}

/** Whether a page can be moved sideways. */
async function overflows(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    "document.documentElement.scrollWidth > document.documentElement.clientWidth",
  );
}

const slow = (count: number): FakeReply => ({
  text: Array.from({ length: count }, (_, index) => `word${index} `),
  delayMs: 40,
});

describe("the page", () => {
  it("[WEB-12] is small, asks for nothing from elsewhere, and forbids all else by its policy", async () => {
    const built = readdirSync("dist/web", { recursive: true, encoding: "utf8" });
    const scripts = built
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFileSync(join("dist/web", name)));
    const bytes = scripts.reduce((sum, script) => sum + gzipSync(script, { level: 9 }).length, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(SCRIPT_CEILING);
    const html = readFileSync("dist/web/index.html", "utf8");
    expect(html).toContain(
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'`,
    );
    expect(html.match(/(?:src|href)="(?!\/|data:)[^"]*"/g)).toBeNull();
    const { headers } = await fetch(`${product.url}/`);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("[WEB-1] signs in by link, which loses its key, and by a key that is typed; a refused one says so", async () => {
    const page = await openPage();
    await page.goto(`${proxy.url}/#key=${product.key}`);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(page.url()).toBe(`${proxy.url}/#`);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    expected = /status of 401/;
    await page.getByLabel("API key").fill("la_dev.wrong.key");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("Sign in with another key.").waitFor();
    await page.getByLabel("API key").fill(product.key);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  });

  it("[WEB-2] [WEB-3] [WEB-4] leads from the first visit to an answer about one's own files", async () => {
    await product.call("POST", "/v1/agents", { id: "offline", name: "Offline", model: "demo" });
    const page = await openSession({}, { agent: "offline", title: "My shop" });
    await page.locator("a[aria-current]").getByText("My shop").waitFor();
    await page.getByText("No files yet.").waitFor();
    await page.getByLabel("Upload folder").setInputFiles(folder);
    await page.getByText("3 files uploaded, 2 left out.").waitFor();
    await page.getByRole("button", { name: /shop 3 files/ }).click();
    await ask(page, "Where is cartTotal defined?");
    await page.locator(".reply").getByText("shop/src/cart.ts:3").first().waitFor();
    const cards = page.locator("details.call");
    await expect.poll(() => cards.locator(".name").allTextContents()).toEqual(["tree", "grep", "read_file"]);
    expect(await cards.locator(".state").allTextContents()).toEqual(
      Array(3).fill(expect.stringMatching(/^Done\d/)),
    );
    const read = cards.nth(2);
    expect(await read.locator("pre").last().isVisible()).toBe(false);
    await read.locator("summary").click();
    expect(await read.locator("pre").last().textContent()).toContain("export function cartTotal");
    await page.locator("a[aria-current]").getByText("Idle").waitFor();
    expect((await logOf(page)).at(-1)?.type).toBe("agent_stop");
  });

  it("[WEB-3] takes a folder that is dropped on the list of files, and lets none replace the page", async () => {
    const page = await openSession();
    const session = await page.context().newCDPSession(page);
    const drop = async (x: number, y: number): Promise<void> => {
      const data = { items: [], files: [folder], dragOperationsMask: 1 };
      for (const type of ["dragEnter", "dragOver", "drop"] as const) {
        await session.send("Input.dispatchDragEvent", { type, x, y, data });
      }
    };
    await drop(600, 300);
    await drop(1_100, 300);
    await page.getByText("3 files uploaded.").waitFor();
    await page.getByRole("button", { name: /shop 3 files/ }).click();
    await page.getByRole("button", { name: "README.md" }).waitFor();
    expect(await page.getByRole("button", { name: /node_modules|\.git/ }).count()).toBe(0);
    expect(page.url()).toContain(proxy.url);
  });

  it("[WEB-11] shows a file and downloads it, and shows what a tool has written", async () => {
    answer = (_prompt, results) =>
      results === 0
        ? {
            thought: ["I write", " it down."],
            calls: [
              { name: "write_file", args: { path: "notes.md", content: "one\ntwo\n", _intent: "Keep it" } },
            ],
          }
        : { text: ["Written."] };
    const page = await openSession();
    await ask(page, "write");
    await page.getByText("Keep it").waitFor();
    await page.getByText("Written.").waitFor();
    const thought = page.locator("details.thought");
    expect(await thought.getByText("I write it down.").isVisible()).toBe(false);
    await thought.locator("summary").click();
    expect(await thought.getByText("I write it down.").isVisible()).toBe(true);
    await page.getByRole("button", { name: "notes.md" }).click();
    const dialog = page.getByRole("dialog", { name: "notes.md" });
    expect(await dialog.getByRole("region").textContent()).toBe("1\n2one\ntwo\n");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("notes.md");
    expect(readFileSync(await download.path(), "utf8")).toBe("one\ntwo\n");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New session with these files" }).click();
    await page.getByText("What do you want to know?").waitFor();
    await page.getByRole("button", { name: "notes.md" }).waitFor();
  });

  it("[WEB-5] shows text as it comes, stops the turn, and the next prompt runs", async () => {
    answer = (prompt) => (prompt.includes("long") ? slow(500) : { text: ["Next."] });
    const page = await openSession();
    await ask(page, "a long story");
    await page.getByText("word3").waitFor();
    await page.locator("a[aria-current]").getByText("Running").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The reply was cut off here.").waitFor();
    await page.locator(".note").getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await ask(page, "and now?");
    await page.getByText("Next.").waitFor();
    const stops = (await logOf(page)).filter((event) => event.type === "agent_stop");
    expect(stops.map(({ reason }) => reason)).toEqual(["aborted", "stop"]);
  });

  it("[WEB-6] while a turn runs, a prompt waits and can be withdrawn, steers, or interrupts", async () => {
    answer = (prompt, results) => {
      if (prompt.includes("look"))
        return results === 0 ? { ...slow(30), calls: [{ name: "tree", args: {} }] } : slow(500);
      return prompt.includes("left") ? slow(500) : { text: ["Done at once."] };
    };
    const page = await openSession();
    await ask(page, "look around");
    await page.getByText("word3").waitFor();
    await ask(page, "for later");
    const waiting = page.getByRole("list", { name: "Waiting prompts" });
    await waiting.getByText("for later").waitFor();
    await waiting.getByRole("button", { name: "Withdraw" }).click();
    await waiting.waitFor({ state: "detached" });
    await page.getByLabel("Steer").check();
    await ask(page, "go left");
    await page.locator(".prompt").getByText("Steered").waitFor();
    await page.locator(".prompt").getByText("go left").waitFor();
    await page.getByLabel("Interrupt").check();
    await ask(page, "at once");
    await page.getByText("Done at once.").waitFor();
    const log = await logOf(page);
    expect(log.filter(({ type }) => type === "prompt_dropped")).toHaveLength(1);
    expect(log.filter((event) => event.type === "agent_stop").map(({ reason }) => reason)).toEqual([
      "aborted",
      "stop",
    ]);
  });

  it("[WEB-9] says what has failed and what can be done", async () => {
    answer = () => ({ status: 401 });
    const page = await openSession();
    await ask(page, "hello");
    await page.locator(".note.failure").getByText("has to correct OPENAI_API_KEY").waitFor();
    expected = /status of 404|WebSocket connection/;
    await page.goto(`${proxy.url}/#session=unknown`);
    await page.getByRole("status").getByText("no such session").waitFor();
    expect(await page.getByLabel("Prompt", { exact: true }).count()).toBe(0);
  });

  it("[WEB-7] nothing in a model's text, a call, a file's name or a prompt runs or asks for anything", async () => {
    const address = `https://${SECRET_HOST}/`;
    const attack = [
      `![inline](${address}1.png?secret) ![reference][r]`,
      `[r]: ${address}2.png "title"`,
      `<img src="${address}3.png" onerror="alert(1)"><svg onload="alert(2)"></svg><script>alert(3)</script>`,
      `<iframe src="${address}4"></iframe><link rel="stylesheet" href="${address}5.css"><style>@import "${address}6";</style>`,
      `[script](javascript:alert(4)) [spaced](java\tscript:alert(5)) [data](data:text/html,<script>alert(6)</script>)`,
      `[path](/v1/sessions) [out](${address}7) ${address}8 <${address}9>`,
      `![x](${address}10" onload="alert(7))`,
      `<a href="javascript:alert(8)" onclick="alert(9)">x</a><form action="${address}11"><button>b</button></form>`,
      `\`\`\`<img src=${address}12>\n<img src=${address}13>\n\`\`\``,
    ].join("\n\n");
    const name = `<img src=${address}14 onerror=alert(10)>`;
    answer = (_prompt, results) =>
      results === 0
        ? {
            thought: [attack],
            text: [attack],
            calls: [
              { name: "write_file", args: { path: "x<img src=y>.md", content: attack, _intent: name } },
            ],
          }
        : { text: ["> ".repeat(5_000), "The end."] };
    const page = await openSession();
    await ask(page, name);
    await page.getByText("The end.").last().waitFor();
    for (const summary of await page.locator("summary").all()) await summary.click();
    await page.getByRole("button", { name: "x<img src=y>.md" }).click();
    await page.getByRole("region", { name: "Content of the file" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("script", { exact: true }).first().click();
    expect(
      await page
        .locator("#app :is(img, svg, iframe, script, style, link, form:not([class]), [onerror], [onclick])")
        .count(),
    ).toBe(0);
    const links = await page.evaluate<(string | null)[][]>(
      "[...document.querySelectorAll('.reply a')].map((a) => ['href', 'rel', 'target'].map((name) => a.getAttribute(name)))",
    );
    const followed = links.filter(([href]) => href !== null);
    expect(followed.length).toBeGreaterThan(3);
    for (const [href, rel, target] of followed) {
      expect(href).toMatch(/^https:\/\//);
      expect([rel, target]).toEqual(["noopener noreferrer", "_blank"]);
    }
    expect(page.url()).toContain(proxy.url);
  });

  it("[WEB-8] a reload in mid-stream, a lost connection and a killed server lose nothing", async () => {
    answer = () => slow(30);
    const page = await openSession();
    const text = Array.from({ length: 30 }, (_, index) => `word${index}`).join(" ");
    await ask(page, "one");
    await page.getByText("word3").waitFor();
    await page.reload();
    await page.getByText("word5").waitFor();
    await page.getByText(text).waitFor();

    expected = /WebSocket connection|Failed to load resource/;
    await ask(page, "two");
    await page.locator(".turn").nth(1).getByText("word3").waitFor();
    proxy.cut();
    await page.getByText("Reconnecting…").waitFor();
    await ask(page, "three");
    await page.getByText("Sending…").waitFor();
    await product.kill();
    await product.start();
    proxy.target = portOf(product.url);
    // As a browser says it when a network is back: nobody wants to wait for the next try.
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByText("Connected").waitFor();
    await page.locator(".turn").nth(2).getByText(text).waitFor();
    const replies = await page.locator(".turn").nth(1).locator(".reply").allTextContents();
    expect(replies.map((reply) => reply.trim())).toEqual([text]);
    const log = await logOf(page);
    expect(log.filter(({ type }) => type === "input")).toHaveLength(3);
  });

  it("[WEB-13] fits a phone: each part is one tap away, and nothing moves sideways", async () => {
    answer = () => ({
      text: [`| ${"wide | ".repeat(40)}\n|${"---|".repeat(40)}\n\n\`${"x".repeat(300)}\`\n\nEnd.`],
    });
    const page = await openSession({
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      hasTouch: true,
    });
    await ask(page, "y".repeat(300));
    await page.getByText("End.").waitFor();
    const parts = page.getByRole("navigation");
    for (const [part, sight] of [
      ["Sessions", "Sign out"],
      ["Files", "Upload folder"],
      ["Conversation", "Send"],
    ] as const) {
      await parts.getByRole("button", { name: part }).tap();
      await page.getByText(sight, { exact: true }).waitFor();
      expect(await overflows(page), part).toBe(false);
    }
  });

  it("[WEB-14] works by keyboard alone, and every control has a name", async () => {
    const page = await openPage();
    await page.goto(`${proxy.url}/#key=${product.key}`);
    await page.getByRole("main").getByRole("button", { name: "New session" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Connected").waitFor();
    const reached: string[] = [];
    for (let presses = 0; presses < 40 && reached.at(-1) !== "TEXTAREA"; presses += 1) {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate<string>("document.activeElement.tagName"));
    }
    expect(reached.at(-1)).toBe("TEXTAREA");
    await page.keyboard.type("first line");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("second line");
    await page.keyboard.press("Enter");
    await page.getByText("Fine.").waitFor();
    const [input] = await logOf(page);
    expect(input).toMatchObject({ content: [{ type: "text", text: "first line\nsecond line" }] });
    const unnamed = await page.evaluate<number>(
      "[...document.querySelectorAll('button, input, textarea, a')].filter((e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).length",
    );
    expect(unnamed).toBe(0);
  });
});

describe("the client in Node", () => {
  it("[WEB-16] follows a session, prompts it and stops it", async () => {
    answer = () => slow(500);
    const { url, key: credential } = product;
    const rest = new RestClient({ url, credential });
    const { id } = await rest.createSession();
    const store = new SessionStore({ url, credential, session: id, rest });
    close.push(() => Promise.resolve(store.close()));
    store.open();
    store.send("go", "queue");
    await expect.poll(() => store.value.view.blocks[0]?.text ?? "", { timeout: 10_000 }).toContain("word2");
    await store.stop();
    await expect.poll(() => store.value.turns[0]?.running, { timeout: 10_000 }).toBe(false);
    expect(checkLog(store.value.view.events)).toEqual([]);
    expect(store.value).toMatchObject({ unsent: [], problem: null, connection: { status: "live" } });
    expect((await rest.sessions()).data.map((session) => session.id)).toContain(id);
  });
});
