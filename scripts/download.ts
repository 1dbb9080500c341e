/**
 * Puts a workspace's files into a local folder: `npm run download -- <workspace> <folder> [--path <folder in it>]
 * [--branch <name>] [--force] [--url <url>] [--key <key>]`.
 */
import { mkdir, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { parseArgs } from "node:util";
import { unpackTar } from "modern-tar/fs";
import { ACCESS_OPTIONS, request, serverAccess } from "./server-access.ts";
import { TransferProgress } from "./transfer-progress.ts";

const USAGE =
  "npm run download -- <workspace> <folder> [--path <folder>] [--branch <name>] [--force] [--url <url>] [--key <key>]";

async function main(): Promise<void> {
  const options = {
    ...ACCESS_OPTIONS,
    path: { type: "string" },
    branch: { type: "string" },
    /** Writes into a folder that holds something already. */
    force: { type: "boolean", default: false },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [workspace, folder, ...more] = positionals;
  if (workspace === undefined || folder === undefined || more.length > 0) throw new Error(USAGE);
  const target = resolve(folder);
  await mkdir(target, { recursive: true });
  if (!values.force && (await readdir(target)).length > 0) {
    throw new Error(`${folder} is not empty: give --force to write into it all the same.`);
  }
  const query = new URLSearchParams();
  for (const name of ["path", "branch"] as const)
    if (values[name] !== undefined) query.set(name, values[name]);
  const access = serverAccess(values, process.env);
  const path = `/v1/workspaces/${encodeURIComponent(workspace)}/archive?${query.toString()}`;
  const { body } = await request(access, path);
  if (!body) throw new Error("The server sent nothing.");
  let [received, files] = [0, 0];
  const progress = new TransferProgress(0);
  const counted = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      progress.at((received += chunk.length));
      done(null, chunk);
    },
  });
  try {
    const unpacked = unpackTar(target, {
      strict: true,
      filter: ({ type }) => {
        if (type === "file") files += 1;
        return true;
      },
    });
    await pipeline(Readable.fromWeb(body as unknown as NodeReadableStream), counted, unpacked);
  } finally {
    progress.end();
  }
  console.log(`${files} files of workspace ${workspace} are in ${folder}.`);
}

await main().catch((caught: unknown) => {
  console.error(caught instanceof Error ? caught.message : caught);
  process.exitCode = 1;
});
