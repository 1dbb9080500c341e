import { LightAgentError, isLightAgentError } from "../../protocol/errors.ts";
import type { MaybePromise } from "../../protocol/time.ts";
import { parseSkill } from "./parse-skill.ts";
import { SkillCatalog } from "./skill-catalog.ts";
import type { Skill, SkillEntry, SkillProblem } from "./skill.ts";

/** A skill as it is stored: its SKILL.md, and the paths of its other files, relative to it. */
export interface SkillText {
  readonly content: string;
  readonly files: readonly string[];
}

/** Where the texts of some skills come from. Both throw LightAgentErrors: `not_found`, `path_not_found`, `unavailable`. */
export interface SkillReader {
  read(name: string): MaybePromise<SkillText>;
  readFile(name: string, path: string): MaybePromise<string>;
}

/** Skills of one source. */
export interface SkillGroup {
  readonly entries: readonly SkillEntry[];
  readonly problems: readonly SkillProblem[];
  readonly reader: SkillReader;
}

/** A skill with its text. */
export interface LoadedSkill {
  readonly entry: SkillEntry;
  readonly skill: Skill;
  readonly files: readonly string[];
}

/** All skills of an agent in one session: what there is, what is wrong with it, and the texts when they are needed. */
export class SkillSet {
  readonly catalog: SkillCatalog;
  readonly problems: readonly SkillProblem[];
  readonly #readers: ReadonlyMap<string, SkillReader>;

  /**
   * A skill whose name an earlier one has, that is one too many, or whose dependencies are missing or circular is a
   * problem and nothing else. @param most so many skills at most, the first ones
   */
  constructor(groups: readonly SkillGroup[], most: number) {
    const problems = groups.flatMap((group) => group.problems);
    const readers = new Map<string, SkillReader>();
    const all = new SkillCatalog();
    for (const { entries, reader } of groups) {
      for (const entry of entries) {
        const why =
          all.entries.length >= most
            ? `An agent may have ${most} skills.`
            : problemOf(() => all.register(entry));
        if (why === null) readers.set(entry.name, reader);
        else problems.push(problemWith(entry, why));
      }
    }
    this.catalog = new SkillCatalog();
    for (const entry of all.entries) {
      const why = problemOf(() => all.select([entry.name]));
      if (why === null) this.catalog.register(entry);
      else problems.push(problemWith(entry, `What it depends on cannot be used: ${why}`));
    }
    this.problems = problems;
    this.#readers = readers;
  }

  /**
   * A skill with all that it depends on, which come first.
   * @throws LightAgentError `not_found`; `invalid_skill` for a text that has been spoilt since; what the reader throws
   */
  async load(name: string): Promise<LoadedSkill[]> {
    const loaded: LoadedSkill[] = [];
    for (const entry of this.catalog.select([name])) {
      const { content, files } = await this.#reader(entry.name).read(entry.name);
      loaded.push({ entry, files, skill: (await parseSkill(content)).skill });
    }
    return loaded;
  }

  /** A file of a skill. @throws LightAgentError `not_found`, and what the reader throws */
  async file(name: string, path: string): Promise<string> {
    const [entry] = this.catalog.select([name]).slice(-1);
    return this.#reader(entry?.name ?? name).readFile(name, path);
  }

  #reader(name: string): SkillReader {
    const reader = this.#readers.get(name);
    if (!reader) throw new LightAgentError("not_found", "There is no such skill.", { skill: name });
    return reader;
  }
}

/**
 * The skills whose SKILL.md are at hand: those of an agent's definition, or of an agent in a program. A text that is no
 * skill is a problem.
 */
export async function skillsFromTexts(texts: readonly string[]): Promise<SkillGroup> {
  const problems: SkillProblem[] = [];
  const entries: SkillEntry[] = [];
  const contents = new Map<string, string>();
  for (const [index, content] of texts.entries()) {
    try {
      const { skill, warnings } = await parseSkill(content);
      const { name, description, dependencies } = skill;
      entries.push({ name, description, dependencies, source: "agent" });
      if (!contents.has(name)) contents.set(name, content);
      for (const message of warnings)
        problems.push({ level: "warning", source: "agent", skill: name, message });
    } catch (caught) {
      const message = isLightAgentError(caught) ? caught.message : "The skill cannot be read.";
      problems.push({ level: "error", source: "agent", skill: `#${index + 1}`, message });
    }
  }
  const reader: SkillReader = {
    read: (name) => ({ content: contents.get(name) ?? "", files: [] }),
    readFile: () => {
      throw new LightAgentError("path_not_found", "The skill has no other files.");
    },
  };
  return { entries, problems, reader };
}

function problemWith({ name, source }: SkillEntry, message: string): SkillProblem {
  return { level: "error", source, skill: name, message };
}

function problemOf(body: () => unknown): string | null {
  try {
    body();
    return null;
  } catch (caught) {
    if (isLightAgentError(caught)) return caught.message;
    throw caught;
  }
}
