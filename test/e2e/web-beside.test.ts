import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import type { FakeReply } from "./model-server.ts";
import { PageRig, ask } from "./page-rig.ts";

const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

let rig: PageRig;
/** What the browser tells of a refusal that a test is about. */
let expected: RegExp | null = null;

/** What a prompt of these tests is answered with: `write x` writes x into a file, `look` looks for files, `wait` never ends. */
function answerTo(prompt: string, results: number): FakeReply {
  const usage = { prompt_tokens: 1_000, completion_tokens: 20 };
  const [, written] = /write (\w+)/.exec(prompt) ?? [];
  if (prompt.includes("wait")) return { text: ["So "], hang: true };
  if (results === 0 && written !== undefined) {
    return { calls: [{ name: "write_file", args: { path: "a.txt", content: written } }], usage };
  }
  if (results === 0 && prompt.includes("look")) {
    const calls = [
      { name: "glob", args: { pattern: "**/*" } },
      { name: "read_file", args: { path: "missing.txt" } },
    ];
    return { thought: ["Where may it be?"], calls, usage };
  }
  return { text: ["Done."], usage };
}

beforeAll(async () => {
  rig = await PageRig.start(answerTo);
});

afterAll(() => rig.stop());

afterEach(async () => {
  const offences = await rig.closePages();
  expect(offences.filter((offence) => !expected?.test(offence))).toEqual([]);
  expected = null;
});

/** Prompts a session, and waits until the turn has ended. */
async function say(page: Page, ...prompts: readonly string[]): Promise<void> {
  for (const prompt of prompts) {
    const turns = await page.locator(".trace-link").count();
    await ask(page, prompt);
    await page.locator(".trace-link").nth(turns).waitFor();
  }
}

async function logOf(session: string): Promise<readonly DurableEvent[]> {
  const { events } = await rig.rest.events(session, { limit: 5_000 });
  expect(checkLog(events)).toEqual([]);
  return events;
}

it("[WEB-28] finds sessions by words and by status, by keyboard, and says how many were searched", async () => {
  for (const title of ["Tea prices", "Coffee prices", "A report"]) await rig.rest.createSession({ title });
  const page = await rig.open((await rig.rest.createSession({ title: "Open one" })).id);
  const list = page.getByRole("list").getByRole("link");
  const search = page.getByLabel("Search sessions");
  await search.focus();
  await page.keyboard.type("PRICES");
  await page.getByText(/^2 of \d+ sessions$/).waitFor();
  expect(await list.locator(".title").allTextContents()).toEqual(["Coffee prices", "Tea prices"]);
  await page.getByLabel("Status of the sessions").selectOption("Running");
  await page.getByText(/^0 of \d+ sessions$/).waitFor();
  // Both before the page is drawn anew: neither undoes the other.
  await page.evaluate(`
    const [status, search] = ["select", "[type=search]"].map((name) => document.querySelector("search " + name));
    status.value = "all";
    status.dispatchEvent(new Event("change", { bubbles: true }));
    search.value = "";
    search.dispatchEvent(new Event("input", { bubbles: true }));
  `);
  await page.getByText("A report").waitFor();
});

it("[WEB-24] shows how full the context window is, and has earlier messages summarised, if the key may", async () => {
  await rig.product.call("POST", "/v1/agents", { id: "narrow", windowTokens: 4_000 });
  await rig.product.call("POST", "/v1/sessions", { id: "context", agent: "narrow" });
  const page = await rig.open("context");
  const open = page.getByRole("button", { name: "Context" });
  expect(await open.innerText()).toBe("Context");
  await say(page, `first ${"words ".repeat(300)}`, "second", "third");
  expect(await open.innerText()).toBe("Context 26 %");
  await open.click();
  const panel = page.getByRole("region", { name: "Context window" });
  await panel.getByText("1,020 of 4,000 tokens").waitFor();
  await panel.getByLabel("What the summary should keep in mind").fill("the numbers");
  await panel.getByRole("button", { name: "Summarise now" }).click();
  await panel.getByText("Summarised: about 1,020 tokens became").waitFor();
  const mark = page.getByText("Summarised for the model: 1,020 tokens became");
  await mark.click();
  expect(await page.locator(".mark[open] p").innerText()).toContain("Done.");
  expect((await logOf("context")).at(-1)).toMatchObject({ type: "agent_summary", kind: "manual" });

  const { apiKey } = await rig.product.call<{ apiKey: string }>("POST", "/v1/keys", {
    name: "reader",
    role: "viewer",
  });
  expected = /status of 403/;
  const reader = await rig.open("context", {}, apiKey);
  await reader.getByRole("button", { name: "Context" }).click();
  await reader.getByRole("button", { name: "Summarise now" }).click();
  await reader.getByRole("alert").getByText("Ask an admin for a key with a higher role.").waitFor();
});

it("[WEB-25] goes back to a checkpoint, marks what was taken back, and forks at one", async () => {
  await rig.product.call("POST", "/v1/sessions", { id: "past", title: "Past" });
  const page = await rig.open("past");
  await say(page, "write one", "write two", "write three");
  const opener = page.getByRole("button", { name: "Checkpoints" });
  await opener.click();
  const panel = page.getByRole("region", { name: "Checkpoints" });
  await panel.getByText("Before turn 3").waitFor();
  expect(await panel.getByRole("heading", { level: 3 }).allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining("Before turn 1")]),
  );

  // Nothing happens before it is confirmed.
  await panel.getByRole("button", { name: "Restore to before turn 2" }).click();
  await panel.getByRole("button", { name: "Cancel" }).click();
  expect((await logOf("past")).some(({ type }) => type === "checkpoint_restore")).toBe(false);
  await panel.getByRole("button", { name: "Restore to before turn 2" }).click();
  await panel.getByRole("button", { name: "Restore", exact: true }).click();
  await panel.getByText("Conversation and files are as before turn 2.").waitFor();
  expect(await page.locator(".turn.undone").count()).toBe(2);
  await page.locator(".between").getByText("Conversation and files went back to an earlier point.").waitFor();
  const { workspace } = await rig.rest.session("past");
  expect(await (await rig.rest.readFile(workspace, "a.txt")).text()).toBe("one");

  // The files alone go forward again.
  await say(page, "write four");
  await panel.getByRole("button", { name: "Restore to before turn 4" }).click();
  await panel.getByLabel("Files only").check();
  await panel.getByRole("button", { name: "Restore", exact: true }).click();
  await panel.getByText("The files are as before turn 4.").waitFor();
  expect(await (await rig.rest.readFile(workspace, "a.txt")).text()).toBe("one");
  expect(await page.locator(".turn.undone").count()).toBe(2);

  await ask(page, "wait");
  await panel.getByText("Before turn 5").waitFor();
  await panel.getByRole("button", { name: "Restore to before turn 1" }).click();
  expect(await panel.getByRole("button", { name: "Restore", exact: true }).isDisabled()).toBe(true);
  await panel.getByText("Wait for its end, or stop it first.").waitFor();

  await page.keyboard.press("Escape");
  expect(await opener.evaluate((button) => button.matches(":focus"))).toBe(true);
  await page.keyboard.press("Enter");
  await panel.getByRole("button", { name: "Fork before turn 2" }).click();
  await panel.getByRole("button", { name: "Fork", exact: true }).click();
  await page.getByRole("heading", { name: "Fork of Past" }).waitFor();
  await page.getByText("Connected").waitFor();
  expect(await page.locator(".turn").count()).toBe(1);
  await say(page, "write five");
  const fork = String(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("session"));
  expect((await logOf(fork)).some(({ type }) => type === "checkpoint_restore")).toBe(false);
  expect(await (await rig.rest.readFile(workspace, "a.txt")).text()).toBe("one");
});

it("[WEB-26] shows a turn as a waterfall beside the conversation, by mouse and by keyboard", async () => {
  await rig.product.call("POST", "/v1/sessions", { id: "traced" });
  const page = await rig.open("traced");
  const isLoaded = (): Promise<boolean> =>
    page.evaluate("performance.getEntriesByType('resource').some(({ name }) => name.includes('waterfall'))");
  await say(page, "look", "again");
  expect(await isLoaded()).toBe(false);
  await page.getByRole("button", { name: "Trace of turn 1" }).focus();
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Trace of turn 1" });
  const table = panel.getByRole("table");
  await table.waitFor();
  expect(await isLoaded()).toBe(true);
  expect(await page.getByRole("log").isVisible()).toBe(true);
  const heard = await table.getByRole("rowheader").allInnerTexts();
  expect(heard.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
    "Turn 1",
    "Model openai/fake",
    "Tool glob",
    "Tool read_file failed",
    "Model openai/fake",
  ]);
  await table.getByText("1,000 / 20").first().waitFor();
  expect(await table.locator(".bar").count()).toBe(5);
  expect(await table.getByText(/^Begins after \d/).count()).toBe(5);

  // From the heading, which has the focus: Close, the turns, the table, and its lines.
  for (let presses = 0; presses < 5; presses += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await table.locator("dl").count()).toBe(1);
  await panel.getByRole("button", { name: "Turn after" }).click();
  await page.getByRole("region", { name: "Trace of turn 2" }).getByRole("rowheader").first().waitFor();
  expect(await page.getByRole("rowheader").count()).toBe(2);
});

it("[WEB-26] shows a trace over the conversation on a phone, and as it grows", async () => {
  await rig.product.call("POST", "/v1/sessions", { id: "phone" });
  const page = await rig.open("phone", PHONE);
  await say(page, "look");
  await ask(page, "wait");
  await page.getByText("So").waitFor();
  await page.getByRole("button", { name: "Trace", exact: true }).click();
  const panel = page.getByRole("region", { name: "Trace of turn 2" });
  await panel.getByText("going on").waitFor();
  expect(await page.getByRole("log").isVisible()).toBe(false);
  expect(
    await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"),
  ).toBe(false);
  await rig.product.call("POST", "/v1/sessions/phone/interrupt", {});
  await panel.getByText("Model openai/fake").waitFor();
  await panel.getByText("going on").waitFor({ state: "detached" });
  await panel.getByRole("button", { name: "Close" }).click();
  await page.getByRole("log").waitFor();
  await page.getByRole("button", { name: "Checkpoints" }).click();
  await page.getByText("Before turn 2").waitFor();
  await page.getByRole("navigation", { name: "Parts" }).getByRole("button", { name: "Conversation" }).click();
  await page.getByRole("log").waitFor();
});

it("[WEB-26] says when a trace cannot be shown, and shows it when it is asked for again", async () => {
  await rig.product.call("POST", "/v1/sessions", { id: "offline" });
  const page = await rig.open("offline");
  await say(page, "look");
  expected = /Failed to load resource|Failed to fetch/;
  await page.route("**/trace?*", (route) => route.abort());
  await page.getByRole("button", { name: "Trace", exact: true }).click();
  await page.getByText("The server cannot be reached. Check the connection and try again.").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("rowheader", { name: "Turn 1" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);

  await page.reload();
  await page.getByText("Connected").waitFor();
  await page.route("**/assets/waterfall*", (route) => route.abort());
  await page.getByRole("button", { name: "Trace", exact: true }).click();
  await page.getByText("This view could not be loaded").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await page.getByText("Connected").waitFor();
  await page.getByRole("button", { name: "Trace", exact: true }).click();
  await page.getByRole("rowheader", { name: "Turn 1" }).waitFor();
});
