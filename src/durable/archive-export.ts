import type { FileEntry } from "../runtime/workspace/workspace.ts";
import type { ContentHolds } from "./content-holds.ts";
import type { FileContents } from "./file-contents.ts";

/** Files whose contents are read before the archive has come to them: a Worker has six connections. */
const AHEAD = 4;

/** A larger file is not read ahead. */
const AHEAD_BYTES = 256 * 1024;

/** A content that is being read ahead, or is to be streamed. */
type Content = Promise<Uint8Array> | null;

/**
 * A tar of some files, made as it is read. Their contents are held, so that no sweep takes one away in the middle.
 * When R2 fails, or the reader goes, the stream breaks off.
 * @param nameOf A file's name in the archive
 */
export async function exportArchive(
  files: readonly FileEntry[],
  nameOf: (path: string) => string,
  { contents, holds }: { contents: FileContents; holds: ContentHolds },
): Promise<ReadableStream<Uint8Array>> {
  const { createTarPacker } = await import("modern-tar");
  const { readable, controller } = createTarPacker();
  const pump = async (): Promise<void> => {
    const ahead: Content[] = [];
    for (const [index, file] of files.entries()) {
      while (ahead.length < AHEAD && index + ahead.length < files.length) {
        ahead.push(readAhead(files[index + ahead.length], contents));
      }
      const { path, size, modifiedAt } = file;
      const body = controller.add({ name: nameOf(path), size, type: "file", mtime: new Date(modifiedAt) });
      const read = ahead.shift() ?? null;
      if (read === null) {
        await (await contents.stream(file.sha256)).pipeTo(body);
        continue;
      }
      const writer = body.getWriter();
      await writer.write(await read);
      await writer.close();
    }
    controller.finalize();
  };
  for (const { sha256 } of files) holds.take(sha256);
  void pump()
    .catch((caught: unknown) => controller.error(caught))
    .finally(() => {
      for (const { sha256 } of files) holds.drop(sha256);
    });
  return readable;
}

function readAhead(file: FileEntry | undefined, contents: FileContents): Content {
  if (!file || file.size > AHEAD_BYTES) return null;
  const read = contents.read(file.sha256, { offset: 0, length: file.size });
  // Its failure is met where it is waited for, which may be never.
  read.catch(() => undefined);
  return read;
}
