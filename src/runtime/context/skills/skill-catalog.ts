import { LightAgentError } from "../../protocol/errors.ts";
import { rank } from "../rank.ts";
import type { SkillEntry } from "./skill.ts";

/** Skills that `discover` answers with, unless it is asked for another number. */
const DISCOVERED = 3;

/** The skills of one agent by name. It knows what they are for, not what is in them. */
export class SkillCatalog {
  readonly #entries = new Map<string, SkillEntry>();

  /** In the order in which they were registered. */
  get entries(): readonly SkillEntry[] {
    return [...this.#entries.values()];
  }

  /** @throws LightAgentError `already_exists` for a name that is taken */
  register(entry: SkillEntry): void {
    if (this.#entries.has(entry.name)) {
      throw new LightAgentError("already_exists", "There is a skill of this name already.", {
        skill: entry.name,
      });
    }
    this.#entries.set(entry.name, entry);
  }

  /**
   * The skills of these names with all that they depend on, each once, what it depends on before it.
   * @throws LightAgentError `not_found` for a name that is not registered, `invalid_skill` where skills depend on one
   *   another in a circle
   */
  select(names: readonly string[]): SkillEntry[] {
    const selected = new Set<SkillEntry>();
    for (const name of names) this.#visit(name, [], selected);
    return [...selected];
  }

  /** The skills that fit some words best by name and description, the best first; none where no word fits. */
  discover(query: string, limit: number = DISCOVERED): SkillEntry[] {
    const ranked = rank(this.entries, ({ name, description }) => `${name} ${description}`, query);
    return ranked.slice(0, limit).map(({ item }) => item);
  }

  #visit(name: string, path: readonly string[], selected: Set<SkillEntry>): void {
    if (path.includes(name)) {
      const message = "Skills depend on one another in a circle.";
      throw new LightAgentError("invalid_skill", message, { skills: [...path, name] });
    }
    const entry = this.#entries.get(name);
    if (!entry) throw new LightAgentError("not_found", "There is no such skill.", { skill: name });
    if (selected.has(entry)) return;
    for (const dependency of entry.dependencies) this.#visit(dependency, [...path, name], selected);
    selected.add(entry);
  }
}
