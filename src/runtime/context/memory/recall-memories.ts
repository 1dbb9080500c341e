import type { Content } from "../../protocol/content.ts";
import type { Limits } from "../../protocol/limits.ts";
import type { RecalledMemory } from "../../protocol/recalled-memory.ts";
import type { MemoryIndex } from "./memory-index.ts";

/** A prompt is looked up by its beginning. */
const QUERY_CHARS = 8_000;

/** The memories that a turn begins with: those that fit its prompt best, as many as there is room for. */
export async function recallMemories(
  index: Pick<MemoryIndex, "search">,
  content: Content,
  { memoriesRecalled, memoryRecallChars }: Limits,
): Promise<RecalledMemory[]> {
  const texts = content.map((part) => (part.type === "text" ? part.text : ""));
  const query = texts.join("\n").slice(0, QUERY_CHARS);
  const found = await index.search(query, { limit: memoriesRecalled });
  let room = memoryRecallChars;
  return found.flatMap(({ id, kind, content: text }) => {
    room -= text.length;
    return room < 0 ? [] : [{ id, kind, content: text }];
  });
}
