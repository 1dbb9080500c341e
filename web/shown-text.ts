import type { RestClient } from "../client/index.ts";

/** So much of a file is shown; all of it can be downloaded. */
const SHOWN_BYTES = 512 * 1024;

export interface ShownText {
  /** Null when the file is not text. */
  readonly text: string | null;
  /** Whether the file goes on. */
  readonly cut: boolean;
}

/** The beginning of a file as text. @throws LightAgentError */
export async function readShownText(
  rest: Pick<RestClient, "readFile">,
  workspace: string,
  { path, size }: { readonly path: string; readonly size: number },
): Promise<ShownText> {
  const bytes = await (await rest.readFile(workspace, path, SHOWN_BYTES)).bytes();
  return { text: textOf(bytes), cut: size > bytes.length };
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    // As one of a stream, so that a character that the cut has split is no error.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}
