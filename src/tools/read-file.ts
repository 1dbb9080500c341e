import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import type { Workspace } from "../runtime/workspace/workspace.ts";
import { readLineWindow, WINDOW_BYTES } from "./line-window.ts";
import type { LineWindow, ReadBytes, WindowRequest } from "./line-window.ts";
import { block, callText, fields, fitting, joined } from "./result-text.ts";
import { defineWorkspaceTool, errorResult } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

const KIBIBYTES = WINDOW_BYTES / 1_024;

const schema = z.object({
  path: z.string().describe("The file, relative to the workspace's root."),
  startLine: z.int().min(1).exactOptional().describe("The first line to show, from 1."),
  endLine: z.int().min(1).exactOptional().describe("The last line to show."),
  byteOffset: z
    .int()
    .min(0)
    .exactOptional()
    .describe("Only to go on within one line that is too long: startLine and endLine name that line."),
});
type Arguments = z.infer<typeof schema>;

/** Shows the text of a file. */
export function createReadFileTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "read_file",
    description:
      `Shows a text file with line numbers. A file of up to ${KIBIBYTES} KiB is shown whole, even if a range is asked for; ` +
      `of a larger one up to ${KIBIBYTES} KiB from startLine on, with the exact call that shows what follows. Binary files ` +
      "are refused.",
    schema,
    readOnly: true,
    async execute(args, { workspace, signal }) {
      const path = pathFromArgument(args.path);
      const { size, read } = await openFile(workspace, path, signal);
      if (size <= WINDOW_BYTES) {
        const range = { startLine: 1, endLine: Infinity, byteOffset: 0 };
        const whole = resultText({ path, size, range, asked: args }, await readLineWindow(read, size, range));
        // Of very many short lines even a small file may not fit with their numbers.
        if (whole.complete) return { content: whole.text };
      }
      const { startLine = 1, endLine = Infinity, byteOffset = 0 } = args;
      if (endLine < startLine) return badRange(args, "endLine lies before startLine.");
      if (args.byteOffset !== undefined && startLine !== endLine) {
        return badRange(args, "byteOffset needs startLine and endLine to name the same line.");
      }
      const range = { startLine, endLine, byteOffset };
      const window = await readLineWindow(read, size, range);
      return { content: resultText({ path, size, range, asked: args }, window).text };
    },
  });
}

/** A way to read one content of a file piece by piece: that it stays the same is checked. */
async function openFile(
  workspace: Workspace,
  path: string,
  signal: AbortSignal,
): Promise<{ size: number; read: ReadBytes }> {
  const { entry, bytes } = await workspace.read(path, { offset: 0, length: WINDOW_BYTES });
  const read: ReadBytes = async (offset, length) => {
    if (offset + length <= bytes.length || entry.size === bytes.length) {
      return bytes.subarray(offset, offset + length);
    }
    signal.throwIfAborted();
    const part = await workspace.read(path, { offset, length });
    if (part.entry.sha256 === entry.sha256) return part.bytes;
    throw new LightAgentError("write_conflict", "The file changed while it was read.");
  };
  return { size: entry.size, read };
}

interface Shown {
  readonly path: string;
  readonly size: number;
  readonly range: WindowRequest;
  readonly asked: Arguments;
}

function resultText(shown: Shown, window: LineWindow): { readonly text: string; readonly complete: boolean } {
  const { path, size, range, asked } = shown;
  const { startLine, byteOffset } = range;
  const { totalLines, nextByte } = window;
  const { lines } = fitting(window.lines.map((line, index) => `${startLine + index} | ${line}`));
  const lastLine = startLine + lines.length - 1;
  const begins = startLine === 1 && byteOffset === 0;
  const complete = begins && nextByte === undefined && lastLine === totalLines;
  const lossy = window.lines.some((line) => line.includes("\uFFFD"));
  const text = joined(
    fields(
      ["what", "Content of a file"],
      ["path", path],
      ["size_bytes", size],
      ["total_lines", totalLines ?? `more than ${lastLine}`],
      ["complete", complete ? "yes" : "no"],
      ["range", rangeText(startLine, lastLine, byteOffset, nextByte)],
      ["reason", reasonText(shown, complete, nextByte)],
    ),
    block("content", lines.length === 0 ? ["(empty)"] : lines),
    fields(
      ["next", nextCall(path, lastLine, window, asked)],
      ["hint", lossy ? "\uFFFD may stand for bytes that are not UTF-8." : undefined],
    ),
  );
  return { text, complete };
}

function rangeText(first: number, last: number, byteOffset: number, nextByte: number | undefined): string {
  if (last < first) return "none";
  const lines = `lines ${first}-${last}`;
  return byteOffset === 0 && nextByte === undefined ? lines : `${lines}, from byte ${byteOffset} of the line`;
}

function reasonText(
  { size, asked }: Shown,
  complete: boolean,
  nextByte: number | undefined,
): string | undefined {
  const ranged =
    asked.startLine !== undefined || asked.endLine !== undefined || asked.byteOffset !== undefined;
  if (complete) return ranged ? `files of up to ${KIBIBYTES} KiB are shown whole` : undefined;
  if (nextByte !== undefined) return `the line is longer than the ${KIBIBYTES} KiB that one call shows`;
  return size > WINDOW_BYTES
    ? `a call shows up to ${KIBIBYTES} KiB`
    : "its many lines do not fit into one result";
}

/** The call that shows what follows; undefined at the end of the file or of the range that was asked for. */
function nextCall(path: string, lastLine: number, window: LineWindow, asked: Arguments): string | undefined {
  const { totalLines, nextByte } = window;
  if (nextByte !== undefined) {
    return callText("read_file", { path, startLine: lastLine, endLine: lastLine, byteOffset: nextByte });
  }
  if (lastLine >= (totalLines ?? Infinity) || lastLine < 1) return undefined;
  const startLine = lastLine + 1;
  const { endLine } = asked;
  return callText(
    "read_file",
    endLine !== undefined && endLine > lastLine ? { path, startLine, endLine } : { path, startLine },
  );
}

function badRange({ path }: Arguments, what: string): ReturnType<typeof errorResult> {
  return errorResult("invalid_arguments", fields(["what", what], ["path", path]));
}
