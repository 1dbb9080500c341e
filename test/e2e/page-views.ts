import type { Page } from "playwright-core";
import { ask } from "./page-rig.ts";

/** A view of the page and how one gets there from an open session. */
export interface PageView {
  readonly name: string;
  /** The session that it shows; see `prepareViews`. */
  readonly session: string;
  readonly show: (page: Page) => Promise<void>;
}

/** What a narrow screen shows only when it is asked to. */
async function part(page: Page, name: string): Promise<void> {
  const tab = page.getByRole("navigation", { name: "Parts of the page" }).getByRole("button", { name });
  if (await tab.isVisible()) await tab.click();
}

async function panel(page: Page, button: string): Promise<void> {
  await page.getByRole("button", { name: button }).first().click();
}

/** Every main view. */
export const PAGE_VIEWS: readonly PageView[] = [
  {
    name: "sign-in",
    session: "empty",
    show: async (page) => {
      await part(page, "Sessions");
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("API key").waitFor();
    },
  },
  { name: "empty session", session: "empty", show: (page) => page.getByText("What do you want").waitFor() },
  { name: "sessions", session: "talk", show: (page) => part(page, "Sessions") },
  {
    name: "conversation",
    session: "talk",
    show: async (page) => {
      await page.getByText("Summarised for the model").click();
      await page.getByText("Thought").first().click();
      await page.locator(".call summary").first().click();
    },
  },
  {
    name: "request",
    session: "asked",
    show: async (page) => {
      await page.getByRole("button", { name: "Allow" }).waitFor();
      await page.getByLabel("Prompt", { exact: true }).fill("next");
    },
  },
  {
    name: "files",
    session: "talk",
    show: async (page) => {
      await part(page, "Files");
      await page.getByRole("button", { name: "notes" }).click();
      await page.getByRole("button", { name: "today.md" }).waitFor();
    },
  },
  {
    name: "file",
    session: "talk",
    show: async (page) => {
      await part(page, "Files");
      await page.getByRole("button", { name: "a.txt" }).click();
      await page.getByRole("dialog").getByText("one").waitFor();
    },
  },
  {
    name: "context",
    session: "talk",
    show: async (page) => {
      await panel(page, "Context");
      await page.getByRole("button", { name: "Summarise now" }).waitFor();
    },
  },
  {
    name: "checkpoints",
    session: "talk",
    show: async (page) => {
      await panel(page, "Checkpoints");
      await page.getByRole("button", { name: "Restore to before turn 2" }).click();
      await page.getByRole("button", { name: "Fork before turn 2" }).waitFor();
    },
  },
  {
    name: "trace",
    session: "talk",
    show: async (page) => {
      await panel(page, "Trace of turn 2");
      await page.getByRole("rowheader").nth(1).getByRole("button").click();
      await page.getByText("Finished by").waitFor();
    },
  },
  {
    name: "agents",
    session: "talk",
    show: async (page) => {
      await part(page, "Sessions");
      await page.getByRole("button", { name: "Manage" }).click();
      await page.getByRole("button", { name: "careful" }).click();
      await page.getByLabel("Definition, as JSON").waitFor();
    },
  },
  {
    name: "keys",
    session: "talk",
    show: async (page) => {
      await part(page, "Sessions");
      await page.getByRole("button", { name: "Manage" }).click();
      await page.getByRole("button", { name: "Keys" }).click();
      await page.getByRole("button", { name: "Revoke…" }).first().click();
    },
  },
];

/** Has the sessions talk that the views show. Theirs is the model that `viewAnswer` is. */
export async function prepareViews(open: (session: string) => Promise<Page>): Promise<void> {
  const page = await open("talk");
  for (const prompt of [`write one ${"and on ".repeat(300)}`, "look for it, please", "and then?"]) {
    const turns = await page.locator(".trace-link").count();
    await ask(page, prompt);
    await page.locator(".trace-link").nth(turns).waitFor();
  }
  await panel(page, "Context");
  await page.getByRole("button", { name: "Summarise now" }).click();
  await page.getByText("Summarised for the model").waitFor();
  const asked = await open("asked");
  await ask(asked, "write two");
  await asked.getByRole("button", { name: "Allow" }).waitFor();
}
