import { toErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";
import type { SourceFile } from "./source-files.ts";

export interface UploadFailure {
  readonly source: SourceFile;
  readonly error: ErrorBody;
}

export interface UploadOptions {
  readonly put: (source: SourceFile) => Promise<unknown>;
  /** Told after each file how many have been dealt with. */
  readonly progress: (done: number) => void;
  readonly signal: AbortSignal;
}

const AT_ONCE = 4;

/** Uploads files, four at a time, and gives those that failed. One that fails does not stop the others. */
export async function uploadAll(
  files: readonly SourceFile[],
  { put, progress, signal }: UploadOptions,
): Promise<UploadFailure[]> {
  const failures: UploadFailure[] = [];
  const rest = files.values();
  let done = 0;
  const work = async (): Promise<void> => {
    for (const source of rest) {
      if (signal.aborted) return;
      try {
        await put(source);
      } catch (caught) {
        failures.push({ source, error: toErrorBody(caught) });
      }
      progress((done += 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}
