import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { SkillText } from "../runtime/context/skills/skill-set.ts";
import { toPage } from "./pages.ts";
import type { LibrarySkill, PinnedLibrary } from "./tenant-api.ts";
import type { Page, PageQuery, SkillView, StoredSkill } from "./tenant-management-api.ts";

interface SkillRow extends Record<string, SqlStorageValue> {
  name: string;
  version: number;
  digest: string;
  description: string;
  /** As JSON, like those below. */
  dependencies: string;
  paths: string;
  created_at: number;
}

interface TextRow extends SkillRow {
  content: string;
  files: string;
}

const VIEW = "name, version, digest, description, dependencies, paths, created_at";

/** The tenant's library of skills: the newest version of each, and a few earlier ones for the sessions that pin them. */
export class SkillStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Stores a version; the text that is the newest already makes none. Reads 1 row, all of the library for a new name;
   * writes 1, and 1 for a version that is let go of. @throws too_many_skills
   */
  put(skill: StoredSkill, { librarySkills, skillVersions }: Limits, at: number): SkillView {
    const newest = this.#newest(skill.name);
    if (newest?.digest === skill.digest) return view(newest);
    if (!newest && this.#count() >= librarySkills) {
      const details = { limit: "librarySkills", value: librarySkills };
      throw new LightAgentError("too_many_skills", "The library has as many skills as it may.", details);
    }
    const { name, digest, description, dependencies, content, files } = skill;
    const version = (newest?.version ?? 0) + 1;
    const paths = Object.keys(files).toSorted();
    this.#sql.exec(
      `INSERT INTO skills (name, version, digest, description, dependencies, paths, created_at, content, files)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      name,
      version,
      digest,
      description,
      JSON.stringify(dependencies),
      JSON.stringify(paths),
      at,
      content,
      JSON.stringify(files),
    );
    this.#sql.exec("DELETE FROM skills WHERE name = ? AND version <= ?", name, version - skillVersions);
    return { name, version, digest, description, dependencies, paths, createdAt: at };
  }

  /** The newest version of each, by name. Reads every version of the skills of the page. */
  list(page: PageQuery): Page<SkillView> {
    const query = `SELECT ${VIEW} FROM skills AS skill WHERE name > ?
      AND version = (SELECT max(version) FROM skills WHERE name = skill.name) ORDER BY name LIMIT ?`;
    const rows = this.#sql.exec<SkillRow>(query, page.cursor ?? "", page.limit + 1).toArray();
    return toPage(rows, page, view, ({ name }) => name);
  }

  /** The newest version with its text. Reads 1 row. @throws not_found */
  newest(name: string): SkillView & StoredSkill {
    const query = "SELECT * FROM skills WHERE name = ? ORDER BY version DESC LIMIT 1";
    const [row] = this.#sql.exec<TextRow>(query, name).toArray();
    if (!row) throw unknownSkill();
    return { ...view(row), content: row.content, files: JSON.parse(row.files) as Record<string, string> };
  }

  /** The text that a session has pinned. Reads the versions of the skill. @throws not_found once it is let go of */
  text(name: string, digest: string): SkillText {
    const { content, paths } = this.#pinned(name, digest);
    return { content, files: JSON.parse(paths) as string[] };
  }

  /** A file of a pinned skill. Reads the versions of the skill. @throws not_found, path_not_found */
  file(name: string, digest: string, path: string): string {
    const files = JSON.parse(this.#pinned(name, digest).files) as Record<string, string>;
    const text = Object.hasOwn(files, path) ? files[path] : undefined;
    if (text === undefined) throw new LightAgentError("path_not_found", "The skill has no such file.");
    return text;
  }

  /** The newest versions of these skills and of all that they depend on. Reads a row for each. */
  pin(names: readonly string[], most: number): PinnedLibrary {
    const skills = new Map<string, LibrarySkill>();
    const missing: string[] = [];
    const wanted = [...new Set(names)];
    // What is found on the way joins the list that is gone through.
    for (const name of wanted) {
      if (skills.size >= most) break;
      const row = this.#newest(name);
      if (!row) {
        missing.push(name);
        continue;
      }
      const { description, digest, version, dependencies } = view(row);
      skills.set(name, { name, description, dependencies, version, digest });
      wanted.push(...dependencies.filter((dependency) => !wanted.includes(dependency)));
    }
    return { skills: [...skills.values()], missing };
  }

  /** Reads 1 row, writes 1 per version. @throws not_found */
  remove(name: string): void {
    if (!this.#newest(name)) throw unknownSkill();
    this.#sql.exec("DELETE FROM skills WHERE name = ?", name);
  }

  #newest(name: string): SkillRow | undefined {
    const query = `SELECT ${VIEW} FROM skills WHERE name = ? ORDER BY version DESC LIMIT 1`;
    return this.#sql.exec<SkillRow>(query, name).toArray()[0];
  }

  #pinned(name: string, digest: string): TextRow {
    const query = "SELECT * FROM skills WHERE name = ? AND digest = ? LIMIT 1";
    const [row] = this.#sql.exec<TextRow>(query, name, digest).toArray();
    if (!row) throw new LightAgentError("not_found", "This version of the skill is kept no more.");
    return row;
  }

  #count(): number {
    const query = "SELECT count(DISTINCT name) AS names FROM skills";
    return this.#sql.exec<{ names: number }>(query).one().names;
  }
}

function view({ name, version, digest, description, dependencies, paths, created_at }: SkillRow): SkillView {
  return {
    name,
    version,
    digest,
    description,
    dependencies: JSON.parse(dependencies) as string[],
    paths: JSON.parse(paths) as string[],
    createdAt: created_at,
  };
}

function unknownSkill(): LightAgentError {
  return new LightAgentError("not_found", "There is no such skill.");
}
