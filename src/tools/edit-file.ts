import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Tool, ToolResult } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import { exactText, withLineFeeds } from "../runtime/workspace/text-file.ts";
import type { FileContent, Workspace } from "../runtime/workspace/workspace.ts";
import { ambiguousText, noMatchText } from "./edit-mismatch.ts";
import { EditableText } from "./editable-text.ts";
import { findOutcome } from "./found-outcome.ts";
import { block, counted, fields, joined } from "./result-text.ts";
import { retryOnConflict } from "./retry-on-conflict.ts";
import { shownDiff } from "./shown-diff.ts";
import { defineWorkspaceTool, errorResult } from "./workspace-failure.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

/** An edit holds the whole file in memory, several times. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Each goes through the whole file. */
const MAX_EDITS = 100;

const schema = z.object({
  path: z.string().describe("The file, relative to the workspace's root."),
  edits: z
    .array(
      z.object({
        old: z
          .string()
          .min(1)
          .describe("The text to replace, exactly as the file has it, without line numbers."),
        new: z.string().describe("What to put in its place."),
        all: z
          .boolean()
          .exactOptional()
          .describe("Replace every occurrence; without it there must be exactly one."),
      }),
    )
    .min(1)
    .max(MAX_EDITS)
    .describe("Made in order, each on the result of those before it; all of them or none."),
});
type Edit = z.infer<typeof schema>["edits"][number];

type Edited = { readonly text: EditableText; readonly count: number } | { readonly failure: ToolResult };

/** Replaces parts of a file. */
export function createEditFileTool(): Tool<typeof schema, WorkspaceToolContext> {
  return defineWorkspaceTool({
    name: "edit_file",
    description:
      "Replaces text in a file. Each `old` must be in the file exactly once, or `all` be set. Line endings stay as they " +
      `are. Works on UTF-8 text files of up to ${MAX_FILE_BYTES / 1024 / 1024} MiB.`,
    schema,
    async execute({ path: argument, edits }, { workspace }) {
      const path = pathFromArgument(argument);
      if (edits.some((edit) => !edit.new.isWellFormed())) {
        return errorResult("invalid_arguments", fields(["what", "An edit holds half of a character."]));
      }
      return retryOnConflict(() => editOnce(workspace, path, edits));
    },
    findOutcome,
  });
}

/** Reads, edits and writes back, provided that the file is still what was read. */
async function editOnce(workspace: Workspace, path: string, edits: readonly Edit[]): Promise<ToolResult> {
  const content = await workspace.read(path, { offset: 0, length: MAX_FILE_BYTES });
  const before = new EditableText(textOf(content));
  const edited = applyEdits(path, before, edits);
  if ("failure" in edited) return edited.failure;
  const { text, count } = edited;
  if (text.raw === before.raw) {
    return errorResult(
      "edit_no_match",
      fields(["what", "Nothing was changed: `old` and `new` are the same."], ["path", path]),
    );
  }
  const bytes = new TextEncoder().encode(text.raw);
  const { version } = await workspace.change([{ kind: "write", path, bytes, ifMatch: content.entry.sha256 }]);
  const result = joined(
    fields(["what", `Replaced ${counted(count, "place")}`], ["path", path], ["size_bytes", bytes.length]),
    block("diff", shownDiff(path, before.text, text.text)),
  );
  return { content: result, workspaceVersion: version };
}

function textOf({ entry, bytes }: FileContent): string {
  if (entry.size > MAX_FILE_BYTES) {
    throw new LightAgentError("file_too_large", `edit_file takes files of up to ${MAX_FILE_BYTES} bytes.`);
  }
  const text = exactText(bytes);
  if (text === null)
    throw new LightAgentError("binary_file", "The file is binary, or not UTF-8: an edit would damage it.");
  return text;
}

function applyEdits(path: string, before: EditableText, edits: readonly Edit[]): Edited {
  let text = before;
  let count = 0;
  for (const [index, edit] of edits.entries()) {
    const old = withLineFeeds(edit.old);
    const failed = { path, number: index + 1, of: edits.length, old };
    const places = text.places(old);
    if (places.length === 0) return { failure: errorResult("edit_no_match", noMatchText(failed, text.text)) };
    if (places.length > 1 && edit.all !== true) {
      return { failure: errorResult("edit_no_match", ambiguousText(failed, text.text, places)) };
    }
    const apart = places.filter(startsAfter(old.length));
    text = text.replaced(apart, old.length, withLineFeeds(edit.new));
    count += apart.length;
  }
  return { text, count };
}

/** Passes over places that overlap one before them. */
function startsAfter(length: number): (place: number) => boolean {
  let end = 0;
  return (place) => {
    if (place < end) return false;
    end = place + length;
    return true;
  };
}
