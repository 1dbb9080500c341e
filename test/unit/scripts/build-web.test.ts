import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { buildWeb, webIsStale } from "../../../scripts/build-web.ts";

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "build-web-"));
});
afterEach(() => rmSync(project, { recursive: true }));

/** Writes a file that was last changed at this time, in s since the epoch. */
function put(path: string, changed: number): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "<!doctype html>");
  utimesSync(file, changed, changed);
}

it("[START-2] a page that was never built is stale", () => {
  put("web/index.html", 1);
  expect(webIsStale(project)).toBe(true);
});

it("[START-2] a page built after the last change is fresh", () => {
  put("web/deep/page.tsx", 1);
  put("client/client.ts", 2);
  put("src/durable/session.ts", 9);
  put("dist/web/index.html", 3);
  expect(webIsStale(project)).toBe(false);
});

it.each(["web/deep/page.tsx", "client/client.ts", "src/runtime/protocol/events.ts", "package.json"])(
  "[START-2] a change of %s makes the page stale",
  (path) => {
    put("web/index.html", 1);
    put("dist/web/index.html", 3);
    put(path, 4);
    expect(webIsStale(project)).toBe(true);
  },
);

it("[START-2] the page is built into dist/web, in the place of an older one", async () => {
  put("dist/web/old.js", 1);
  put("web/index.html", 1);
  await buildWeb(project);
  expect(existsSync(join(project, "dist/web/index.html"))).toBe(true);
  expect(existsSync(join(project, "dist/web/old.js"))).toBe(false);
});

it("[START-2] without a page there is an empty folder for the Worker", async () => {
  await buildWeb(project);
  expect(existsSync(join(project, "dist/web"))).toBe(true);
});
