import * as z from "zod";
import { isLightAgentError } from "../runtime/protocol/errors.ts";
import { memoriesText, memoryKindSchema } from "../runtime/protocol/recalled-memory.ts";
import { defineTool } from "../runtime/tool/tool.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import type { MemoryAccess } from "./remember.ts";
import { fields } from "./result-text.ts";
import { errorResult } from "./workspace-failure.ts";

const schema = z.object({
  query: z.string().min(1).max(1_000).describe("Words that the memory may have, in its language."),
  kinds: z.array(memoryKindSchema).min(1).exactOptional().describe("Of these kinds only."),
  limit: z.int().min(1).max(20).exactOptional().describe("How many at most; 5 without it."),
});

/** Finds what was kept from earlier conversations with the user. */
export function createSearchMemoryTool(memory: Pick<MemoryAccess, "index">): Tool<typeof schema> {
  return defineTool({
    name: "search_memory",
    description: "Finds notes that were kept from earlier conversations with this user, by their words.",
    schema,
    readOnly: true,
    async execute({ query, ...options }) {
      try {
        const found = await memory.index().search(query, options);
        if (found.length > 0) return { content: memoriesText(found) };
        return { content: fields(["what", "No memory has any of these words."]) };
      } catch (caught) {
        if (!isLightAgentError(caught)) throw caught;
        return errorResult(caught.code, fields(["what", caught.message]));
      }
    },
  });
}
