import type * as z from "zod";
import type { Tool } from "../runtime/tool/tool.ts";
import { createDeleteTool } from "./delete.ts";
import { createEditFileTool } from "./edit-file.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createMoveTool } from "./move.ts";
import { createReadFileTool } from "./read-file.ts";
import { createTreeTool } from "./tree.ts";
import type { WorkspaceToolContext } from "./workspace-tool-context.ts";
import { createWriteFileTool } from "./write-file.ts";

/** All file tools, in the order in which a model is told of them. */
export function createBuiltinTools(): Tool<z.ZodObject, WorkspaceToolContext>[] {
  return [
    createTreeTool(),
    createGlobTool(),
    createGrepTool(),
    createReadFileTool(),
    createWriteFileTool(),
    createEditFileTool(),
    createMoveTool(),
    createDeleteTool(),
  ];
}
