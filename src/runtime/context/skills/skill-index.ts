import { escapeMarkup } from "../../protocol/markup.ts";
import type { SkillEntry } from "./skill.ts";

const USAGE = [
  "Skills are instructions for certain kinds of tasks. When a task fits the description of one, call `load_skill` with its name before you begin, and follow what it says.",
  "A skill may name further files: `load_skill` with its name and a `path` shows one. A skill gives you no tool that you do not have.",
].join("\n");

/**
 * What a model is told of the skills: how they are used, and their names and descriptions, as many as fit, in their
 * order. The same entries give the same text, byte for byte. Null where there are none.
 * @param room UTF-16 units of the list
 */
export function skillIndex(entries: readonly SkillEntry[], room: number): string | null {
  if (entries.length === 0) return null;
  const lines: string[] = [];
  let left = room;
  for (const { name, description } of entries) {
    const line = `<skill><name>${name}</name><description>${escapeMarkup(oneLine(description))}</description></skill>`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const more = entries.length - lines.length;
  const rest = more > 0 ? [`${more} more are not listed: \`discover_skills\` finds them by words.`] : [];
  return [USAGE, "<available_skills>", ...lines, "</available_skills>", ...rest].join("\n");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
