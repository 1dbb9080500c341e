import * as z from "zod";
import { isLightAgentError } from "../runtime/protocol/errors.ts";
import type { LoadedSkill, SkillSet } from "../runtime/context/skills/skill-set.ts";
import type { MaybePromise } from "../runtime/protocol/time.ts";
import { defineTool } from "../runtime/tool/tool.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import { pathFromArgument } from "../runtime/workspace/path-argument.ts";
import { callText, fields, joined } from "./result-text.ts";
import { errorResult } from "./workspace-failure.ts";

const schema = z.object({
  name: z.string().min(1).max(64).describe("The skill's name, as it is listed."),
  path: z
    .string()
    .min(1)
    .max(1_024)
    .exactOptional()
    .describe("A file of the skill, relative to its folder; the skill's instructions without it."),
});

/** Files that a result names. */
const SHOWN_FILES = 50;

/** Shows the instructions of a skill, after those of the skills that it depends on, or one of its files. */
export function createLoadSkillTool(skills: () => MaybePromise<SkillSet>): Tool<typeof schema> {
  return defineTool({
    name: "load_skill",
    description:
      "Shows the instructions of a skill, those of the skills that it depends on first, or with `path` one of its files. Load a skill before you do what it is for.",
    schema,
    readOnly: true,
    async execute({ name, path }) {
      const set = await skills();
      try {
        if (path !== undefined) return { content: await set.file(name, pathFromArgument(path)) };
        const loaded = await set.load(name);
        return { content: joined(...loaded.map(shown)) };
      } catch (caught) {
        if (!isLightAgentError(caught)) throw caught;
        const known = set.catalog.entries.some((entry) => entry.name === name);
        const how = known ? undefined : "Choose one of the listed skills, or look with discover_skills.";
        const content = fields(["what", caught.message], ["name", name], ["path", path], ["how", how]);
        return errorResult(caught.code, content);
      }
    },
  });
}

function shown({ entry, skill, files }: LoadedSkill): string {
  const { name } = entry;
  const [first] = files;
  const more = files.length > SHOWN_FILES ? ` and ${files.length - SHOWN_FILES} more` : "";
  const tools = skill.allowedTools.join(", ");
  return joined(
    `<skill name="${name}">\n${skill.body}\n</skill>`,
    fields(
      ["needs", skill.compatibility?.replaceAll(/\s+/g, " ")],
      ["tools", tools === "" ? undefined : `${tools} (that it names them gives you none of them)`],
      ["files", first === undefined ? undefined : files.slice(0, SHOWN_FILES).join(", ") + more],
      ["next", first === undefined ? undefined : callText("load_skill", { name, path: first })],
    ),
  );
}
