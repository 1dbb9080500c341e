/**
 * Puts a local folder into a workspace, as one version: `npm run upload -- <folder> [--workspace <id>] [--branch <name>]
 * [--url <url>] [--key <key>]`. What .gitignore leaves out stays at home. Doing it again replaces what has changed;
 * files that are no longer in the folder stay in the workspace.
 */
import { createReadStream } from "node:fs";
import { basename, resolve } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { parseArgs } from "node:util";
import { createTarPacker } from "modern-tar";
import { readLocalFolder } from "./local-folder.ts";
import type { LocalFile } from "./local-folder.ts";
import { ACCESS_OPTIONS, request, serverAccess } from "./server-access.ts";
import type { ServerAccess } from "./server-access.ts";
import { TransferProgress } from "./transfer-progress.ts";

const USAGE = "npm run upload -- <folder> [--workspace <id>] [--branch <name>] [--url <url>] [--key <key>]";

async function main(): Promise<void> {
  const options = { ...ACCESS_OPTIONS, workspace: { type: "string" }, branch: { type: "string" } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new Error(USAGE);
  const access = serverAccess(values, process.env);
  const workspace = values.workspace ?? idOf(folder);
  const { files, others, ignored } = await readLocalFolder(resolve(folder));
  if (files.length === 0) throw new Error(`${folder} holds no file that is to be uploaded.`);
  await ensureWorkspace(access, workspace);
  const branch = values.branch === undefined ? "" : `?branch=${encodeURIComponent(values.branch)}`;
  const answer = await send(access, `/v1/workspaces/${workspace}/archive${branch}`, files);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  console.log(
    `${answer.files} files, ${(bytes / 1e6).toFixed(1)} MB, are in workspace ${workspace}: ` +
      `version ${answer.version}, ${answer.changed} changed.`,
  );
  if (ignored > 0) console.log(`${ignored} files were left out by .gitignore.`);
  if (others > 0) console.log(`${others} links and the like were left out.`);
}

/** An id that is like the folder's name. */
function idOf(folder: string): string {
  const id = basename(resolve(folder))
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 64);
  if (id === "") throw new Error("The folder's name makes no id: give --workspace.");
  return id;
}

async function ensureWorkspace(access: ServerAccess, id: string): Promise<void> {
  const path = `/v1/workspaces/${encodeURIComponent(id)}`;
  const { status } = await request(access, path, { expected: [200, 404] });
  if (status === 200) return;
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ id });
  await request(access, "/v1/workspaces", { method: "POST", headers, body, expected: [200, 201] });
}

async function send(access: ServerAccess, path: string, files: readonly LocalFile[]): Promise<Imported> {
  const { readable, controller } = createTarPacker();
  const progress = new TransferProgress(files.reduce((sum, { size }) => sum + size, 0));
  let sent = 0;
  const pack = async (): Promise<void> => {
    for (const { path: name, location, size, modifiedAt } of files) {
      const body = controller.add({ name, size, type: "file", mtime: modifiedAt });
      await Readable.toWeb(createReadStream(location)).pipeTo(body as unknown as Sink);
      progress.at((sent += size));
    }
    controller.finalize();
  };
  const packed = pack().catch((caught: unknown) => controller.error(caught));
  try {
    const response = await request(access, path, { method: "PUT", body: readable, duplex: "half" });
    await packed;
    return (await response.json()) as Imported;
  } finally {
    progress.end();
  }
}

/** What the server answers. */
interface Imported {
  readonly version: number;
  readonly files: number;
  readonly changed: number;
}

/** Node's own type of a stream is another than the standard one. */
type Sink = Parameters<NodeReadableStream["pipeTo"]>[0];

await main().catch((caught: unknown) => {
  console.error(caught instanceof Error ? caught.message : caught);
  process.exitCode = 1;
});
