import type { RE2JS } from "re2js";
import { DEFAULT_LIMITS } from "../protocol/limits.ts";
import type { MaybePromise } from "../protocol/time.ts";
import { globToRe2 } from "./glob-syntax.ts";
import { compileRe2 } from "./re2.ts";
import { linesOf } from "./text-file.ts";

export const IGNORE_FILE = ".gitignore";

/** Files that are read for their rules; in real trees there are a handful. */
const MAX_FILES = 100;
/** A longer rule or file says nothing. */
const MAX_RULE_LENGTH = 1024;
const MAX_TEXT_LENGTH = 64 * 1024;
/** Hidden unless a rule of the workspace says otherwise. */
const ALWAYS = ".git/\nnode_modules/";

/** Rules that follow one another and say the same of what they match. */
interface RuleGroup {
  /** Of what is below the rules' folder: a directory's path ends with a slash here. */
  readonly matches: RE2JS;
  readonly ignored: boolean;
}

interface RuleFile {
  /** With a slash at the end; empty for the root. */
  readonly folder: string;
  /** The last that matches decides. */
  readonly groups: readonly RuleGroup[];
}

/** What `.gitignore` files say of the paths of a workspace. */
export class IgnoreRules {
  /** Outermost first. */
  readonly #files: RuleFile[];
  readonly #directories = new Map<string, boolean>();

  private constructor(files: RuleFile[]) {
    this.#files = files;
  }

  /**
   * Reads the rules that apply somewhere in a workspace.
   * @param paths All paths of files
   * @param read The text of an ignore file; null when it cannot be had
   */
  static async load(
    paths: Iterable<string>,
    read: (path: string) => MaybePromise<string | null>,
  ): Promise<IgnoreRules> {
    const rules = new IgnoreRules([{ folder: "", groups: await parseRules(ALWAYS) }]);
    const found = [...paths].filter((path) => path === IGNORE_FILE || path.endsWith(`/${IGNORE_FILE}`));
    const outermostFirst = found.sort((a, b) => a.split("/").length - b.split("/").length);
    let count = 0;
    for (const path of outermostFirst) {
      if (count === MAX_FILES) break;
      const folder = path.slice(0, -IGNORE_FILE.length);
      // A dependency's own rules are as hidden as it is; there can be thousands.
      if (rules.ignores(folder.slice(0, -1), true)) continue;
      count += 1;
      const text = await read(path);
      if (text === null || text.length > MAX_TEXT_LENGTH) continue;
      rules.#files.push({ folder, groups: await parseRules(text) });
      rules.#directories.clear();
    }
    return rules;
  }

  /** Whether a file is to be left out of what is asked about a folder: never when the folder itself is ignored. */
  hides(folder: string): (path: string) => boolean {
    return this.ignores(folder, true) ? () => false : (path) => this.ignores(path, false);
  }

  /** Whether a file or directory, or a directory that holds it, is ignored. The root never is. */
  ignores(path: string, isDirectory: boolean): boolean {
    if (path === "") return false;
    const known = isDirectory ? this.#directories.get(path) : undefined;
    if (known !== undefined) return known;
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const ignored = this.ignores(parent, true) || this.#saysIgnored(isDirectory ? `${path}/` : path);
    if (isDirectory) this.#directories.set(path, ignored);
    return ignored;
  }

  #saysIgnored(path: string): boolean {
    for (const { folder, groups } of this.#files.toReversed()) {
      // An ignore file says nothing of the folder that holds it.
      if (!path.startsWith(folder) || path === folder) continue;
      const below = path.slice(folder.length);
      const group = groups.findLast(({ matches }) => matches.testExact(below));
      if (group) return group.ignored;
    }
    return false;
  }
}

async function parseRules(text: string): Promise<RuleGroup[]> {
  const runs: { ignored: boolean; sources: string[] }[] = [];
  for (const line of linesOf(text)) {
    const rule = trimRule(line);
    if (rule === "" || rule.startsWith("#") || rule.length > MAX_RULE_LENGTH) continue;
    const ignored = !rule.startsWith("!");
    const source = ruleSource(ignored ? rule : rule.slice(1));
    const run = runs.at(-1);
    if (run?.ignored === ignored) run.sources.push(source);
    else runs.push({ ignored, sources: [source] });
  }
  const groups = await Promise.all(
    runs.map(async ({ ignored, sources }) => ({ ignored, matches: await compileRules(sources) })),
  );
  return groups.filter((group): group is RuleGroup => group.matches !== null);
}

/** A rule with a slash before its end is about paths below its folder, one without about names anywhere below. */
function ruleSource(rule: string): string {
  const directoriesOnly = rule.endsWith("/");
  const body = directoriesOnly ? rule.slice(0, -1) : rule;
  const anchored = body.includes("/");
  const glob = globToRe2(body.replace(/^\//, ""), { braces: false });
  return `${anchored ? "" : "(?:.*/)?"}${glob}${directoriesOnly ? "/" : "/?"}`;
}

/** Without the blanks at its end, of which a backslash saves one. No regular expression: it would take quadratic time. */
function trimRule(line: string): string {
  let end = line.length;
  while (end > 0 && line.charAt(end - 1) === " " && line.charAt(end - 2) !== "\\") end -= 1;
  return line.slice(0, end);
}

/** Rules that cannot be read are passed over; null when none is left. */
async function compileRules(sources: readonly string[]): Promise<RE2JS | null> {
  const together = await compiles(sources.map((source) => `(?:${source})`).join("|"));
  if (together || sources.length < 2) return together;
  const alone = await Promise.all(sources.map(compiles));
  const valid = sources.filter((_, index) => alone[index]);
  return valid.length < sources.length ? compileRules(valid) : null;
}

async function compiles(source: string): Promise<RE2JS | null> {
  const maxProgram = 4 * DEFAULT_LIMITS.searchProgram;
  return compileRe2(source, { caseSensitive: true, fixed: false, maxProgram }).catch(() => null);
}
