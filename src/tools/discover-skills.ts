import * as z from "zod";
import type { SkillSet } from "../runtime/context/skills/skill-set.ts";
import type { MaybePromise } from "../runtime/protocol/time.ts";
import { defineTool } from "../runtime/tool/tool.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import { block, counted, fields, joined } from "./result-text.ts";

const schema = z.object({
  query: z.string().min(1).max(1_000).describe("Words of the task."),
  limit: z.int().min(1).max(20).exactOptional().describe("How many at most; 3 without it."),
});

/** Finds skills by what they are for. */
export function createDiscoverSkillsTool(skills: () => MaybePromise<SkillSet>): Tool<typeof schema> {
  return defineTool({
    name: "discover_skills",
    description:
      "Finds the skills whose names and descriptions fit some words best, also those that are not listed.",
    schema,
    readOnly: true,
    async execute({ query, limit }) {
      const { catalog } = await skills();
      const found = catalog.discover(query, limit);
      const lines = found.map(({ name, description }) => `${name}: ${description.replaceAll(/\s+/g, " ")}`);
      const hint =
        found.length > 0 ? "load_skill shows what a skill says." : "Nothing fits. Try other words.";
      const content = joined(
        fields(["what", "Skills that fit"], ["found", counted(found.length, "skill")]),
        found.length > 0 ? block("skills", lines) : undefined,
        fields(["hint", hint]),
      );
      return { content };
    },
  });
}
