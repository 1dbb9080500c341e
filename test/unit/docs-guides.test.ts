import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { FOLDER, PICTURES, PICTURE_BYTES } from "../../scripts/screenshot-views.ts";
import { deployment } from "../../src/deployment.ts";
import { EVENT_TABLE } from "../../src/runtime/protocol/events.ts";
import { ERROR_CODES } from "../../src/runtime/protocol/errors.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";

const GUIDES = ["tutorial", "page", "concepts", "tools", "write-a-tool", "operate", "security"].map(
  (name) => `docs/${name}.md`,
);
const PAGES = ["README.md", "AGENTS.md", ...readdirSync("docs").flatMap(pageOf)];

function pageOf(name: string): string[] {
  return name.endsWith(".md") ? [`docs/${name}`] : [];
}

/** The text of a page without its fenced blocks. */
function proseOf(page: string): string {
  return readFileSync(page, "utf8").replaceAll(/^```[^]*?^```$/gm, "");
}

/** What stands between single backticks. */
function quotedIn(page: string): string[] {
  return [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, quoted = ""]) => quoted);
}

/** The fragments by which a page's headings are reached, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each(PAGES)("[DOCS-5] every link of %s leads to something that is there", (page) => {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)|src(?:set)?="([^"]+)"/g)].map(
    ([, link, source]) => link ?? source ?? "",
  );
  const broken = links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

it.each(GUIDES)("[DOCS-6] %s names calls, codes, limits and rules as they are", (page) => {
  const quoted = quotedIn(page);
  const calls = quoted.filter((text) => /^(GET|POST|PUT|PATCH|DELETE) \//.test(text));
  const api = readFileSync("docs/api.md", "utf8");
  expect(calls.filter((call) => !api.includes(`\`${call.replace(/\?.*$/, "")}\``))).toEqual([]);

  const names: string[] = [
    ...Object.keys(ERROR_CODES),
    ...EVENT_TABLE.keys(),
    ...deployment.tools.map(({ name }) => name),
    // Tools that come with skills and memory.
    "load_skill",
    "discover_skills",
    "search_memory",
    "follow_up",
    "max_steps",
    "count_words",
    "node_modules",
    "global_fetch_strictly_public",
  ];
  const codes = quoted.filter((text) => /^[a-z]+(?:_[a-z]+)+$/.test(text));
  expect(codes.filter((code) => !names.includes(code))).toEqual([]);

  const limits = quoted.filter((text) =>
    /^[a-z]+(?:[A-Z][a-z]+)*(?:Ms|Bytes|Turns|PerMinute|Calls)$/.test(text),
  );
  expect(limits.filter((name) => !(name in DEFAULT_LIMITS) && name !== "timeoutMs")).toEqual([]);

  const spec = readFileSync("SPEC.md", "utf8");
  const bracketed = [...proseOf(page).matchAll(/\[([A-Z]+-\d+(?:(?:,| to) [A-Z]+-\d+)*)\]/g)].map(
    ([, ids = ""]) => ids,
  );
  const rules = bracketed.flatMap((ids) => ids.match(/[A-Z]+-\d+/g) ?? []);
  expect(rules.filter((rule) => !spec.includes(`**${rule}**`))).toEqual([]);
});

it("[DOCS-7] there is each picture of the page that scripts/screenshot-views.ts names, no other, and none is large", () => {
  const files = PICTURES.map(({ file }) => file);
  expect(readdirSync(FOLDER).toSorted()).toEqual(files.toSorted());
  expect(files.filter((file) => statSync(join(FOLDER, file)).size > PICTURE_BYTES)).toEqual([]);
});
