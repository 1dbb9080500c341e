/**
 * Takes the pictures in docs/screenshots/ anew: `npm run screenshots`. The product runs with a fake model, so that they
 * show the same each time but for the times of day. What is taken stands in screenshot-views.ts.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { launchBrowser } from "../test/e2e/browser.ts";
import { ModelServer } from "../test/e2e/model-server.ts";
import { ProductProcess } from "../test/e2e/product-process.ts";
import { FILES, FOLDER, PICTURES, PICTURE_BYTES, SCENES, SIZES } from "./screenshot-views.ts";
import type { View } from "./screenshot-views.ts";

const model = await ModelServer.start(({ messages }) => {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const asked = JSON.stringify(messages[last]?.content);
  const steps = messages.slice(last).filter(({ role }) => role === "assistant").length;
  const scene = SCENES.find(({ prompt }) => asked.includes(prompt));
  return scene?.replies[steps] ?? { text: ["Done."] };
});
const product = new ProductProcess({
  OPENAI_API_KEY: "sk-none",
  OPENAI_BASE_URL: model.baseUrl,
  OPENAI_MODEL: "example",
});
try {
  await product.start();
  const sessions = await play();
  await takeAll(sessions);
} finally {
  await product.stop();
  await model.stop();
}

/** Brings every scene to where it is shown; gives the sessions by the scenes' titles. */
async function play(): Promise<Map<string, string>> {
  await product.call("POST", "/v1/agents", {
    id: "coder",
    policy: { ask: ["write_file", "edit_file", "move", "delete"] },
    prices: { "openai/example": { input: 2, output: 8 } },
  });
  await product.call("POST", "/v1/workspaces", { id: "shop" });
  for (const [path, body] of Object.entries(FILES)) {
    const response = await product.fetch(`/v1/workspaces/shop/files/${path}`, { method: "PUT", body });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  }
  const sessions = new Map<string, string>();
  for (const { title, prompt, until } of SCENES) {
    const body = { agent: "coder", workspace: "shop", title };
    const { id } = await product.call<{ id: string }>("POST", "/v1/sessions", body);
    sessions.set(title, id);
    await product.call("POST", `/v1/sessions/${id}/prompt`, { text: prompt });
    await untilStatus(id, until);
  }
  return sessions;
}

async function untilStatus(session: string, wanted: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const { status } = await product.call<{ status: string }>("GET", `/v1/sessions/${session}`);
    if (status === wanted) return;
    await delay(100);
  }
  throw new Error(`Session ${session} does not come to be ${wanted}.`);
}

async function takeAll(sessions: ReadonlyMap<string, string>): Promise<void> {
  const browser = await launchBrowser();
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  try {
    for (const { file, view, size, scheme } of PICTURES) {
      const context = await browser.newContext({ ...SIZES[size], colorScheme: scheme });
      const page = await context.newPage();
      await open(page, view, sessions, size === "phone");
      const picture = await page.screenshot({ type: "png", animations: "disabled" });
      await context.close();
      if (picture.length > PICTURE_BYTES) throw new Error(`${file} has ${picture.length} bytes.`);
      writeFileSync(join(FOLDER, file), picture);
      console.log(`${file} ${Math.round(picture.length / 1_000)} kB`);
    }
  } finally {
    await browser.close();
  }
}

/** Brings a page to where a view is. */
async function open(
  page: Page,
  { scene, pane, clicks }: View,
  sessions: ReadonlyMap<string, string>,
  onPhone: boolean,
): Promise<void> {
  if (scene === null) {
    await page.goto(product.url);
    await page.getByLabel("API key").waitFor();
    return;
  }
  await page.goto(`${product.url}/#key=${product.key}&session=${sessions.get(scene)}`);
  await page.getByText("Connected").waitFor({ state: "attached" });
  await page.locator(".reply").first().waitFor({ state: "attached" });
  if (onPhone) await page.getByRole("button", { name: pane, exact: true }).click();
  for (const name of clicks) await page.getByRole("button", { name }).first().click();
  await page.waitForLoadState("networkidle");
}
