import * as z from "zod";
import { RECALL_TOOL } from "../runtime/context/indexed-results.ts";
import type { Past } from "../runtime/context/past.ts";
import { isLightAgentError } from "../runtime/protocol/errors.ts";
import { defineTool } from "../runtime/tool/tool.ts";
import type { Tool, ToolContext } from "../runtime/tool/tool.ts";
import { callText, counted, fields, joined } from "./result-text.ts";
import { errorResult } from "./workspace-failure.ts";

/** Entries that a search names. */
const FOUND = 8;

const schema = z.object({
  id: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .exactOptional()
    .describe("What to show, by the id that you were given."),
  query: z.string().trim().min(1).max(1_000).exactOptional().describe("Words to find it by, without an id."),
  offset: z.int().min(0).exactOptional().describe("Where to go on, as [next] says."),
});

interface RecallContext extends ToolContext {
  readonly past: Past;
}

/** Shows again what has gone out of the conversation to make room: by id, or found by words. */
export function createRecallIndexedTool(): Tool<typeof schema, RecallContext> {
  return defineTool({
    name: RECALL_TOOL,
    description:
      "Shows what was taken out of this conversation to make room: a result whose place says indexed_tool_result by its `id`, or anything older than a summary by words of it (`query`). Give one of them.",
    schema,
    readOnly: true,
    async execute({ id, query, offset = 0 }, { past }) {
      if ((id === undefined) === (query === undefined)) {
        return errorResult("invalid_arguments", fields(["what", "Give either an id or a query."]));
      }
      try {
        return id === undefined ? await found(past, query ?? "") : await shown(past, id, offset);
      } catch (caught) {
        if (!isLightAgentError(caught)) throw caught;
        return errorResult(caught.code, fields(["what", caught.message]));
      }
    },
  });
}

async function found(past: RecallContext["past"], query: string): Promise<{ content: string }> {
  const entries = await past.find(query, FOUND);
  const shownEntries = entries.map(({ entry: { id, what, turn }, excerpt }) =>
    fields(["id", id], ["what", `${what}, turn ${turn}`], ["excerpt", excerpt]),
  );
  const hint =
    entries.length > 0
      ? `${callText(RECALL_TOOL, { id: entries[0]?.entry.id })} shows one of them.`
      : "Nothing that was taken out has any of these words.";
  return {
    content: joined(
      fields(["found", counted(entries.length, "part")]),
      ...shownEntries,
      fields(["hint", hint]),
    ),
  };
}

async function shown(past: RecallContext["past"], id: string, offset: number) {
  const part = await past.read(id, offset);
  if (!part) {
    const how = "Copy the id from its place in the conversation, or find it by `query`.";
    return errorResult("not_found", fields(["what", `There is nothing with the id ${id}.`], ["how", how]));
  }
  const { what, turn, text, from, to, size } = part;
  if (from > 0 && from >= size) {
    return errorResult(
      "invalid_arguments",
      fields(["what", "The offset lies beyond the end."], ["size", size]),
    );
  }
  const range = from === 0 && to >= size ? undefined : `${from} to ${to} of ${size}`;
  const next = to < size ? callText(RECALL_TOOL, { id, offset: to }) : undefined;
  return {
    content: joined(
      fields(["what", `${what}, turn ${turn}`], ["range", range], ["next", next]),
      `[content]\n${text}`,
    ),
  };
}
