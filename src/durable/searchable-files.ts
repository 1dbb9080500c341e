import type { SearchableFile } from "../runtime/workspace/search.ts";
import { readableText } from "../runtime/workspace/text-file.ts";
import type { FileEntry } from "../runtime/workspace/workspace.ts";
import type { FileContents } from "./file-contents.ts";

/** Files whose contents are fetched ahead of the search: a Worker has six connections. */
const AHEAD = 6;

/** No more bytes than these are fetched ahead, unless the next file alone is larger. */
const AHEAD_BYTES = 16 * 1024 * 1024;

/**
 * Files as a search reads them, one after the other, while the contents of the next ones are on their way. A file of
 * more than `maxBytes` is not fetched before it is asked for.
 */
export async function* searchableFiles(
  files: readonly FileEntry[],
  contents: FileContents,
  maxBytes: number,
): AsyncGenerator<SearchableFile, undefined, undefined> {
  const fetched = new Map<FileEntry, Promise<Uint8Array>>();
  let ahead = 0;
  let bytes = 0;
  const fetch = async (file: FileEntry): Promise<Uint8Array> =>
    contents.read(file.sha256, { offset: 0, length: file.size });

  for (const [index, file] of files.entries()) {
    while (ahead < files.length && ahead < index + AHEAD) {
      const next = files[ahead];
      if (!next || (ahead > index && bytes + next.size > AHEAD_BYTES)) break;
      ahead += 1;
      if (next.size > maxBytes) continue;
      const fetching = fetch(next);
      // A search that ends early leaves it; a failure counts only where the text is asked for.
      fetching.catch(() => {});
      fetched.set(next, fetching);
      bytes += next.size;
    }
    const { path, size } = file;
    yield { path, size, text: async () => readableText(await (fetched.get(file) ?? fetch(file))) };
    if (fetched.delete(file)) bytes -= size;
  }
}
