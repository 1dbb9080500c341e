/** Where a skill comes from: the agent's definition, the tenant's library, or the session's workspace. */
export type SkillSource = "agent" | "library" | "workspace";

/** What is known of a skill without its text: enough to choose it by. */
export interface SkillEntry {
  /** 1 to 64 lower-case letters, digits and single hyphens. */
  readonly name: string;
  /** What the skill does and when to use it. */
  readonly description: string;
  /** Skills that have to be read before it; from `metadata.dependencies`. */
  readonly dependencies: readonly string[];
  readonly source: SkillSource;
}

/** A SKILL.md taken apart. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly license: string | undefined;
  readonly compatibility: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Tools that the skill says it needs. It is given none by that. */
  readonly allowedTools: readonly string[];
  readonly dependencies: readonly string[];
  /** The instructions: what follows the frontmatter, with line feeds alone. */
  readonly body: string;
}

/** Something that is wrong with a skill. With `error` it is left out, with `warning` it is used all the same. */
export interface SkillProblem {
  readonly level: "warning" | "error";
  readonly source: SkillSource;
  /** The skill's name; where it has none, its folder or its place in the list. */
  readonly skill: string;
  readonly message: string;
}

/** Whether a text can be a skill's name. */
export function isSkillName(text: string): boolean {
  return text.length <= 64 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text);
}
