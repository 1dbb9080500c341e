import { expect, it } from "vitest";
import type { FolderListing, RestClient } from "../../../client/index.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { WorkspaceFiles } from "../../../web/workspace-files.ts";
import { settled } from "../support/fake-time.ts";

const file = (path: string) =>
  ({ kind: "file", path, size: 1, sha256: "", version: 1, modifiedAt: 1 }) as const;
const folder = (path: string, files: number) => ({ kind: "directory", path, files }) as const;
const listing = (...entries: FolderListing["entries"]): FolderListing => ({ entries, omitted: 0 });

/** The REST calls that a workspace's files need, as far as a test plays them. */
function rest(calls: Partial<Pick<RestClient, "listFolder" | "readFile" | "writeFile">>): RestClient {
  return calls as unknown as RestClient;
}

it("[WEB-11] folders are listed when they are opened, and again with every refresh", async () => {
  const asked: string[] = [];
  const listFolder = (_workspace: string, path: string): Promise<FolderListing> => {
    asked.push(path);
    return Promise.resolve(
      path === "" ? { entries: [folder("src", 5), file("a")], omitted: 8 } : listing(file("src/b")),
    );
  };
  const files = new WorkspaceFiles(rest({ listFolder }), "w");
  await files.refresh();
  // Of the 8 files that are not among the entries 5 are in a folder that is.
  expect(files.value.folders.get("")).toMatchObject({ omitted: 3 });
  files.toggle("src");
  await settled();
  expect(files.value.folders.get("src")?.entries).toEqual([file("src/b")]);
  await files.refresh();
  expect(asked).toEqual(["", "src", "", "src"]);
  files.toggle("src");
  await files.refresh();
  expect(asked).toEqual(["", "src", "", "src", ""]);
});

it("[WEB-11] refreshes that are wished for meanwhile become one", async () => {
  const answers: ((answer: FolderListing) => void)[] = [];
  const listFolder = (): Promise<FolderListing> => new Promise((resolve) => answers.push(resolve));
  const files = new WorkspaceFiles(rest({ listFolder }), "w");
  void files.refresh();
  void files.refresh();
  void files.refresh();
  expect(answers).toHaveLength(1);
  answers[0]?.(listing());
  await settled();
  expect(answers).toHaveLength(2);
  answers[1]?.(listing(file("new")));
  await settled();
  expect(answers).toHaveLength(2);
  expect(files.value.folders.get("")?.entries).toEqual([file("new")]);
});

it("[WEB-11] a folder that is gone closes; other failures are told", async () => {
  let failure: "path_not_found" | "unavailable" = "path_not_found";
  const listFolder = (_workspace: string, path: string): Promise<FolderListing> =>
    path === "" ? Promise.resolve(listing()) : Promise.reject(new LightAgentError(failure, "no"));
  const files = new WorkspaceFiles(rest({ listFolder }), "w");
  files.toggle("src");
  await settled();
  expect(files.value).toMatchObject({ expanded: new Set(), problem: null });
  failure = "unavailable";
  files.toggle("src");
  await settled();
  expect(files.value.problem).toMatchObject({ code: "unavailable" });
});

it("[WEB-3] an upload ends with what failed, which can be tried again", async () => {
  const refused = new Set(["b"]);
  const written: string[] = [];
  const writeFile = (_workspace: string, path: string): Promise<never> => {
    if (refused.has(path)) return Promise.reject(new LightAgentError("rate_limited", "slow down"));
    written.push(path);
    return Promise.resolve(undefined as never);
  };
  const files = new WorkspaceFiles(rest({ writeFile, listFolder: () => Promise.resolve(listing()) }), "w");
  await files.upload(
    ["a", "b", "c"].map((path) => ({ path, file: new File(["x"], path) })),
    2,
  );
  expect(files.value.upload).toMatchObject({
    total: 3,
    done: 3,
    skipped: 2,
    running: false,
    failures: [{ source: { path: "b" }, error: { code: "rate_limited" } }],
  });
  refused.clear();
  await files.retryUpload();
  expect(written.sort()).toEqual(["a", "b", "c"]);
  expect(files.value.upload).toMatchObject({ total: 1, done: 1, failures: [] });
});

it("[WEB-3] an upload that was given up shows nothing more", async () => {
  let settle = (): void => undefined;
  const writeFile = (): Promise<never> =>
    new Promise((resolve) => (settle = () => resolve(undefined as never)));
  const files = new WorkspaceFiles(rest({ writeFile, listFolder: () => Promise.resolve(listing()) }), "w");
  const uploading = files.upload([{ path: "a", file: new File([], "a") }], 0);
  await settled();
  files.cancelUpload();
  settle();
  await uploading;
  expect(files.value.upload).toBeNull();
});

it("[WEB-11] the file that was asked for last is the one that is shown", async () => {
  const answers = new Map<string, (content: Blob) => void>();
  const readFile = (_workspace: string, path: string): Promise<Blob> =>
    new Promise((resolve) => answers.set(path, resolve));
  const files = new WorkspaceFiles(rest({ readFile }), "w");
  const first = files.show("slow", 4);
  const second = files.show("quick", 5);
  answers.get("quick")?.(new Blob(["quick"]));
  await second;
  answers.get("slow")?.(new Blob(["slow"]));
  await first;
  expect(files.value.shown).toMatchObject({ path: "quick", text: { text: "quick", cut: false } });
});
