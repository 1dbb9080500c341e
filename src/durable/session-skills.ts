import { SkillSet, skillsFromTexts } from "../runtime/context/skills/skill-set.ts";
import type { SkillGroup } from "../runtime/context/skills/skill-set.ts";
import type { SkillProblem } from "../runtime/context/skills/skill.ts";
import { readWorkspaceSkills, workspaceSkillReader } from "../runtime/agent/workspace-skills.ts";
import type { AgentDefinition } from "../runtime/protocol/agent-definition.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Tool } from "../runtime/tool/tool.ts";
import type { Workspace } from "../runtime/workspace/workspace.ts";
import { createDiscoverSkillsTool } from "../tools/discover-skills.ts";
import { createLoadSkillTool } from "../tools/load-skill.ts";
import { inTime } from "./in-time.ts";
import type { PinnedLibrary, SkillLibrary, WorkspaceSkills } from "./tenant-api.ts";

export interface SessionSkillsOptions {
  readonly definition: AgentDefinition;
  readonly limits: Limits;
  /** What the tenant's library had when the session was created. */
  readonly library: PinnedLibrary | undefined;
  readonly texts: SkillLibrary;
  readonly workspace: () => Workspace;
  /** What the workspace had when the session's first turn began; undefined before that. */
  readonly pinned: () => WorkspaceSkills | undefined;
  readonly pin: (skills: WorkspaceSkills) => void;
}

/**
 * The skills of one session. Which there are stays as it was: of the library when the session was created, of the
 * workspace when its first turn began, so that the system prompt does not change under a conversation. Texts of the
 * library stay too; those of the workspace are read when they are loaded.
 */
export class SessionSkills {
  readonly #options: SessionSkillsOptions;
  #set: Promise<SkillSet> | null = null;

  constructor(options: SessionSkillsOptions) {
    this.#options = options;
  }

  /** Whether the agent has any at all. */
  get offered(): boolean {
    const { skills = [], workspaceSkills = false } = this.#options.definition;
    return skills.length > 0 || workspaceSkills;
  }

  /** The tools of an agent that has some. */
  tools(): Tool[] {
    if (!this.offered) return [];
    const skills = (): Promise<SkillSet> => this.set();
    return [createLoadSkillTool(skills), createDiscoverSkillsTool(skills)];
  }

  /** For a turn: from now on they stay as they are. Never rejects. */
  set(): Promise<SkillSet> {
    this.#set ??= this.#read(true);
    return this.#set;
  }

  /** For whoever wants to know before a turn has begun. Never rejects. */
  look(): Promise<SkillSet> {
    return this.#set ?? this.#read(false);
  }

  async #read(pins: boolean): Promise<SkillSet> {
    const { definition, limits } = this.#options;
    const texts = (definition.skills ?? []).flatMap((skill) =>
      typeof skill === "string" ? [] : [skill.content],
    );
    const groups = [await skillsFromTexts(texts), this.#library(), await this.#workspace(pins)];
    return new SkillSet(groups, limits.agentSkills);
  }

  #library(): SkillGroup {
    const { library, texts } = this.#options;
    const pinned = new Map(library?.skills.map((skill) => [skill.name, skill]));
    const entries = [...pinned.values()].map(({ name, description, dependencies }) => {
      return { name, description, dependencies, source: "library" as const };
    });
    const missing = library?.missing ?? [];
    const problems = missing.map((skill): SkillProblem => {
      return { level: "error", source: "library", skill, message: "The library has no such skill." };
    });
    const digestOf = (name: string): string => pinned.get(name)?.digest ?? "";
    const reader = {
      read: async (name: string) => unwrap(await inTime(texts.skillText(name, digestOf(name)))),
      readFile: async (name: string, path: string) =>
        unwrap(await inTime(texts.skillFile(name, digestOf(name), path))),
    };
    return { entries, problems, reader };
  }

  async #workspace(pins: boolean): Promise<SkillGroup> {
    const { definition, limits, workspace, pinned, pin } = this.#options;
    const reader = workspaceSkillReader(workspace, limits);
    if (!definition.workspaceSkills) return { entries: [], problems: [], reader };
    const known = pinned();
    if (known) return { ...known, reader };
    try {
      const read = await inTime(readWorkspaceSkills(workspace(), limits));
      if (pins) pin(read);
      return { ...read, reader };
    } catch {
      // The next turn looks again.
      if (pins) this.#set = null;
      const message = "The workspace does not answer; its skills are not known for now.";
      return {
        entries: [],
        problems: [{ level: "warning", source: "workspace", skill: "*", message }],
        reader,
      };
    }
  }
}
