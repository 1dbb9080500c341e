import { parseSkill } from "../context/skills/parse-skill.ts";
import type { SkillGroup, SkillReader } from "../context/skills/skill-set.ts";
import type { SkillEntry, SkillProblem } from "../context/skills/skill.ts";
import { LightAgentError, isLightAgentError } from "../protocol/errors.ts";
import type { Limits } from "../protocol/limits.ts";
import { pathFromArgument } from "../workspace/path-argument.ts";
import { readableText } from "../workspace/text-file.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The folder of a workspace that holds its skills, each in a folder of its own. */
const FOLDER = ".skills";
/** Levels below a skill's folder in which its files are looked for. */
const DEPTH = 5;
/** Folders that are read at once. */
const AT_ONCE = 6;

type Files = Pick<Workspace, "list" | "read">;

/**
 * The skills of a workspace as they are now, in the order of their folders. A folder that holds no usable skill is a
 * problem.
 * @throws LightAgentError `unavailable` when the workspace does not answer
 */
export async function readWorkspaceSkills(
  workspace: Files,
  limits: Limits,
): Promise<Pick<SkillGroup, "entries" | "problems">> {
  const folders = await foldersIn(workspace, limits.agentSkills);
  const entries: SkillEntry[] = [];
  const problems: SkillProblem[] = [];
  for (let at = 0; at < folders.length; at += AT_ONCE) {
    const some = folders.slice(at, at + AT_ONCE);
    for (const found of await Promise.all(some.map((folder) => readEntry(workspace, folder, limits)))) {
      if (found.entry) entries.push(found.entry);
      problems.push(...found.problems);
    }
  }
  return { entries, problems };
}

/** The texts of a workspace's skills, as they are when they are asked for. */
export function workspaceSkillReader(workspace: () => Files, limits: Limits): SkillReader {
  return {
    async read(name) {
      const files = workspace();
      const content = await readText(files, `${FOLDER}/${name}/SKILL.md`, limits.skillBytes);
      const { entries } = await files.list(`${FOLDER}/${name}`, { depth: DEPTH, limit: limits.skillFiles });
      const paths = entries.flatMap(({ kind, path }) => (kind === "file" ? [path] : []));
      const below = paths.map((path) => path.slice(FOLDER.length + name.length + 2));
      return { content, files: below.filter((path) => path !== "SKILL.md") };
    },
    async readFile(name, path) {
      return readText(workspace(), `${FOLDER}/${name}/${pathFromArgument(path)}`, limits.skillFilesBytes);
    },
  };
}

async function foldersIn(workspace: Files, most: number): Promise<string[]> {
  try {
    const { entries } = await workspace.list(FOLDER, { depth: 1, limit: most });
    return entries.flatMap(({ kind, path }) => (kind === "directory" ? [path.slice(FOLDER.length + 1)] : []));
  } catch (caught) {
    const none = isLightAgentError(caught) && caught.code !== "unavailable";
    if (none) return [];
    throw caught;
  }
}

async function readEntry(
  workspace: Files,
  folder: string,
  { skillBytes }: Limits,
): Promise<{ readonly entry: SkillEntry | null; readonly problems: readonly SkillProblem[] }> {
  const problem = (level: SkillProblem["level"], message: string): SkillProblem => {
    return { level, source: "workspace", skill: folder.slice(0, 64).toWellFormed(), message };
  };
  try {
    const text = await readText(workspace, `${FOLDER}/${folder}/SKILL.md`, skillBytes);
    const { skill, warnings } = await parseSkill(text);
    const { name, description, dependencies } = skill;
    if (name !== folder) return { entry: null, problems: [problem("error", "Its folder has another name.")] };
    const entry: SkillEntry = { name, description, dependencies, source: "workspace" };
    return { entry, problems: warnings.map((message) => problem("warning", message)) };
  } catch (caught) {
    if (!isLightAgentError(caught) || caught.code === "unavailable") throw caught;
    const message = caught.code === "path_not_found" ? "Its folder has no SKILL.md." : caught.message;
    return { entry: null, problems: [problem("error", message)] };
  }
}

/** @throws LightAgentError `file_too_large`, `binary_file`, and what the workspace throws */
async function readText(workspace: Files, path: string, maxBytes: number): Promise<string> {
  const { entry, bytes } = await workspace.read(path, { offset: 0, length: maxBytes });
  if (entry.size > maxBytes) {
    throw new LightAgentError("file_too_large", `A file of a skill may have ${maxBytes} bytes here.`, {
      maxBytes,
    });
  }
  const text = readableText(bytes);
  if (text === null) throw new LightAgentError("binary_file", "The file is not text.");
  return text;
}
