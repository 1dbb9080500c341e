import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { FakeReply } from "./model-server.ts";
import { PageRig } from "./page-rig.ts";
import { PAGE_VIEWS, prepareViews } from "./page-views.ts";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  wide: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true },
};

let rig: PageRig;

function answerTo(prompt: string, results: number): FakeReply {
  const usage = { prompt_tokens: 1_000, completion_tokens: 20 };
  const [, written] = /^"write (\w+)/.exec(prompt) ?? [];
  if (results === 0 && written !== undefined) {
    return { calls: [{ name: "write_file", args: { path: "a.txt", content: written } }], usage };
  }
  if (results === 0 && prompt.startsWith('"look')) {
    const calls = [
      { name: "glob", args: { pattern: "**/*" } },
      { name: "read_file", args: { path: "missing.txt" } },
    ];
    return { thought: ["Where may it be?"], calls, usage };
  }
  const text =
    "# It is there\n\n> In `a.txt`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n[A link](https://example.com)";
  return { text: [text], usage };
}

beforeAll(async () => {
  rig = await PageRig.start(answerTo);
  const rules = [{ id: "writes", tool: "write_file", effect: "ask", description: "It changes files." }];
  await rig.product.call("POST", "/v1/agents", { id: "careful", policy: { rules } });
  await rig.product.call("POST", "/v1/agents", { id: "narrow", windowTokens: 4_000 });
  await rig.product.call("POST", "/v1/sessions", { id: "empty" });
  await rig.product.call("POST", "/v1/sessions", { id: "asked", agent: "careful" });
  const { workspace } = await rig.product.call<{ workspace: string }>("POST", "/v1/sessions", {
    id: "talk",
    agent: "narrow",
    title: "A talk about a file",
  });
  await rig.rest.writeFile(workspace, "notes/today.md", new Blob(["# Today\n"]));
  await prepareViews((session) => rig.open(session));
});

afterAll(() => rig.stop());

afterEach(async () => expect(await rig.closePages()).toEqual([]));

describe.each(Object.entries(SCREENS))("on a %s screen", (screen, options) => {
  it.each(["light", "dark"] as const)(
    "[WEB-27] axe finds nothing serious in %s views",
    async (colorScheme) => {
      const found: string[] = [];
      const page = await rig.open("talk", { ...options, colorScheme });
      for (const { name, session, show } of PAGE_VIEWS.toReversed()) {
        await page.goto(`${rig.product.url}/#session=${session}`);
        await page.reload();
        await page.getByText("Connected").waitFor();
        await show(page);
        await page.evaluate(AXE);
        const { violations, passes } = await page.evaluate<AxeResults>(
          "axe.run({ resultTypes: ['violations'] })",
        );
        expect(passes).not.toEqual([]);
        for (const { id, impact, nodes } of violations) {
          if (impact !== "serious" && impact !== "critical") continue;
          for (const { html } of nodes) found.push(`${screen}, ${name}: ${id} in ${html.slice(0, 200)}`);
        }
      }
      expect(found).toEqual([]);
    },
  );
});
