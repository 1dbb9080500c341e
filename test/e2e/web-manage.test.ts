import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { RestClient } from "../../client/index.ts";
import { PageRig, ask } from "./page-rig.ts";

let rig: PageRig;
/** What the browser tells of a refusal that a test is about. */
let expected: RegExp | null = null;

beforeAll(async () => {
  rig = await PageRig.start(() => ({
    text: ["Done."],
    usage: { prompt_tokens: 1_000, completion_tokens: 20 },
  }));
});

afterAll(() => rig.stop());

afterEach(async () => {
  const offences = await rig.closePages();
  expect(offences.filter((offence) => !expected?.test(offence))).toEqual([]);
  expected = null;
});

async function newSession(): Promise<string> {
  return (await rig.rest.createSession({})).id;
}

it("[WEB-29] an admin makes an agent and a version of it by keyboard, and nothing written is lost", async () => {
  const page = await rig.open(await newSession());
  const opener = page.getByRole("button", { name: "Manage" });
  await opener.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Manage" });
  await dialog.getByLabel("Id of a new agent").fill("not an id");
  await page.keyboard.press("Enter");
  expected = /status of 400/;
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Id of a new agent").fill("helper");
  await page.keyboard.press("Enter");
  await dialog.getByRole("heading", { name: "helper" }).waitFor();
  const text = dialog.getByLabel("Definition, as JSON");
  expect(await text.inputValue()).toBe("{}");
  await text.fill('{ "maxSteps": "many" }');
  await dialog.getByRole("button", { name: "Store as a new version" }).click();
  await dialog.getByRole("alert").getByText("maxSteps").waitFor();

  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await opener.evaluate((button) => button.matches(":focus"))).toBe(true);
  await page.keyboard.press("Enter");
  expect(await text.inputValue()).toBe('{ "maxSteps": "many" }');
  await text.fill('{ "maxSteps": 3, "prompts": [{ "name": "role", "content": "You help." }] }');
  await dialog.getByRole("button", { name: "Store as a new version" }).click();
  await dialog.getByRole("status").getByText("Version 2 is stored.").waitFor();
  expect(await rig.rest.agent("helper")).toMatchObject({ version: 2, maxSteps: 3 });

  await dialog.getByLabel("Version").selectOption("1");
  expect(await text.inputValue()).toBe("{}");

  await dialog.getByRole("button", { name: "New session with helper" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Connected").waitFor();
  await expect
    .poll(async () => (await rig.rest.sessions()).data[0])
    .toMatchObject({ agent: "helper", agentVersion: 2 });
});

it("[WEB-29] an admin makes a key, sees it once, and revokes it after being asked", async () => {
  const page = await rig.open(await newSession());
  await page.getByRole("button", { name: "Manage" }).click();
  const dialog = page.getByRole("dialog", { name: "Manage" });
  await dialog.getByRole("button", { name: "Keys" }).click();
  await dialog.getByLabel("Role of a new key").selectOption("viewer");
  await dialog.getByLabel("Name of a new key").fill("dashboard");
  await page.keyboard.press("Enter");
  const credential = await dialog.getByRole("alert").getByRole("code").innerText();
  const reader = new RestClient({ url: rig.product.url, credential });
  expect((await reader.sessions()).data).not.toEqual([]);

  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Manage" }).click();
  const row = dialog.getByRole("row").filter({ hasText: "dashboard" });
  await row.waitFor();
  expect(await page.content()).not.toContain(credential);
  expect(await row.innerText()).toContain("viewer");

  await row.getByRole("button", { name: "Revoke…" }).click();
  expect((await rig.rest.keys()).data.map(({ name }) => name)).toContain("dashboard");
  await row.getByRole("button", { name: "Revoke dashboard for good" }).click();
  await dialog.getByRole("status").getByText("The key dashboard is revoked.").waitFor();
  await row.waitFor({ state: "detached" });
  expect((await rig.rest.keys()).data.map(({ name }) => name)).not.toContain("dashboard");
});

it("[WEB-29] an admin sees what was used, on a phone too; another key is told whom to ask", async () => {
  const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
  const session = await newSession();
  const page = await rig.open(session, phone);
  await ask(page, "hello");
  await page.locator(".trace-link").waitFor();
  await page.getByRole("navigation", { name: "Parts" }).getByRole("button", { name: "Sessions" }).click();
  await page.getByRole("button", { name: "Manage" }).click();
  const dialog = page.getByRole("dialog", { name: "Manage" });
  await dialog.getByRole("button", { name: "Usage" }).click();
  const row = dialog.getByRole("row").filter({ hasText: "openai/fake" });
  await row.getByRole("cell", { name: "1,000", exact: true }).waitFor();
  await row.getByRole("cell", { name: "no price" }).waitFor();
  expect(
    await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"),
  ).toBe(false);

  const { apiKey } = await rig.rest.createKey({ name: "reader", role: "viewer" });
  expected = /status of 403/;
  const reader = await rig.open(session, {}, apiKey);
  await reader.getByRole("button", { name: "Manage" }).click();
  await reader.getByRole("button", { name: "Keys" }).click();
  await reader.getByRole("alert").getByText("Ask an admin for a key with a higher role.").waitFor();
  expect(await reader.getByLabel("Name of a new key").count()).toBe(0);
});
