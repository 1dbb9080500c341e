import type * as z from "zod";
import { cutText } from "../runtime/protocol/content.ts";
import { isLightAgentError } from "../runtime/protocol/errors.ts";
import type { ErrorCode } from "../runtime/protocol/errors.ts";
import type { Tool, ToolResult } from "../runtime/tool/tool.ts";
import { fields } from "./result-text.ts";
import type { Field } from "./result-text.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";

/** What a model can do about it. */
const HELP: Partial<Record<ErrorCode, string>> = {
  already_exists:
    "Choose another target, or delete what is there first. A target is a full path, not a folder to move into.",
  file_too_large: "Split the content into several files.",
  invalid_path: "Write paths relative to the workspace's root, with `/` between names, like src/index.ts.",
  invalid_pattern: "Correct the pattern. For grep, `fixed: true` takes it as plain text.",
  is_directory: "Name a file. `tree` shows what is in a folder.",
  outcome_unknown: "Look whether the change is there before you make it again.",
  path_escape: "All paths are inside the workspace; its root is `.`, and nothing above it can be reached.",
  path_not_found: "Find the right path with `tree` or `glob`; upper and lower case matter.",
  write_conflict:
    "Somebody else changed the file meanwhile. Read it again, then repeat the change if it still makes sense.",
  unavailable: "Try again, a little later.",
  workspace_full: "Delete what is not needed any more, or write less.",
};

/** The arguments that say where. */
const PLACES = ["path", "from", "to", "pattern"];
const PLACE_LENGTH = 1_024;

/** A tool over the workspace: what the workspace refuses becomes a result that tells the model what to do. */
export function defineWorkspaceTool<Schema extends z.ZodObject>(
  tool: Tool<Schema, WorkspaceToolContext>,
): Tool<Schema, WorkspaceToolContext> {
  return {
    ...tool,
    execute: async (args, context) => {
      try {
        return await tool.execute(args, context);
      } catch (caught) {
        return failureResult(caught, args);
      }
    },
  };
}

function failureResult(caught: unknown, args: Readonly<Record<string, unknown>>): ToolResult {
  if (!isLightAgentError(caught)) throw caught;
  const places = PLACES.map((name): Field => [name, textOf(args[name])]);
  const at: Field = ["at", textOf(caught.details?.fragment)];
  const content = fields(["what", caught.message], ...places, at, ["how", HELP[caught.code]]);
  return errorResult(caught.code, content);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? cutText(value, PLACE_LENGTH) : undefined;
}

export function errorResult(code: ErrorCode, content: string): ToolResult {
  return { content, isError: true, code };
}
