import { expect, it } from "vitest";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import type { SourceFile } from "../../../web/source-files.ts";
import { uploadAll } from "../../../web/upload.ts";
import { settled } from "../support/fake-time.ts";

const files = (count: number): SourceFile[] =>
  Array.from({ length: count }, (_, index) => ({ path: `f${index}`, file: new File(["x"], `f${index}`) }));

it("[WEB-3] four files are on their way at once, and each is counted when it is dealt with", async () => {
  const waiting = new Map<string, () => void>();
  const counts: number[] = [];
  const uploading = uploadAll(files(6), {
    put: ({ path }) => new Promise<void>((resolve) => waiting.set(path, resolve)),
    progress: (done) => counts.push(done),
    signal: new AbortController().signal,
  });
  await settled();
  expect([...waiting.keys()]).toEqual(["f0", "f1", "f2", "f3"]);
  waiting.get("f2")?.();
  await settled();
  expect([...waiting.keys()]).toEqual(["f0", "f1", "f2", "f3", "f4"]);
  expect(counts).toEqual([1]);
  for (const path of ["f0", "f1", "f3", "f4"]) waiting.get(path)?.();
  await settled();
  waiting.get("f5")?.();
  expect(await uploading).toEqual([]);
  expect(counts).toEqual([1, 2, 3, 4, 5, 6]);
});

it("[WEB-3] a file that fails is given back with the reason, and the others go on", async () => {
  const failures = await uploadAll(files(5), {
    put: ({ path }) => {
      if (path === "f1") throw new LightAgentError("file_too_large", "too large");
      return path === "f3" ? Promise.reject(new TypeError("cannot be read")) : Promise.resolve();
    },
    progress: () => undefined,
    signal: new AbortController().signal,
  });
  expect(failures.map(({ source, error }) => [source.path, error.code])).toEqual([
    ["f1", "file_too_large"],
    ["f3", "internal"],
  ]);
});

it("[WEB-3] no further file begins after the upload was given up", async () => {
  const given = new AbortController();
  const put: string[] = [];
  await uploadAll(files(9), {
    put: ({ path }) => {
      put.push(path);
      given.abort();
      return Promise.resolve();
    },
    progress: () => undefined,
    signal: given.signal,
  });
  expect(put).toEqual(["f0"]);
});
