import type { Limits } from "../protocol/limits.ts";
import { globToRe2 } from "./glob-syntax.ts";
import { compileRe2, invalidPattern } from "./re2.ts";
import type { SearchQuery } from "./workspace.ts";

/** Whether a search looks at a file, by its canonical path. */
export type PathFilter = (path: string) => boolean;

/**
 * The files that a query is about: those in its folder (or the one file that it names) that `include` and `exclude`
 * leave. For a glob query the pattern has its say too.
 * @throws LightAgentError `invalid_pattern`
 */
export async function pathFilter(query: SearchQuery, limits: Limits): Promise<PathFilter> {
  const { path: folder = "", include = [], exclude = [] } = query;
  const below = folder === "" ? "" : `${folder}/`;
  if (Math.max(include.length, exclude.length) > limits.searchGlobs) {
    throw invalidPattern(`There are more than ${limits.searchGlobs} globs.`);
  }
  const included = await anyOf(include.flatMap(includeGlobs), limits);
  const excluded = await anyOf(exclude.flatMap(excludeGlobs), limits);
  const matches = query.kind === "glob" ? await anyOf(patternGlobs(query.pattern), limits) : undefined;
  return (path) => {
    if (path !== folder && !path.startsWith(below)) return false;
    if (matches && !matches(path.slice(below.length))) return false;
    return (included?.(path) ?? true) && !(excluded?.(path) ?? false);
  };
}

/** Whether some glob matches; undefined without globs. One automaton for all, so that many cost no more than one. */
async function anyOf(globs: readonly string[], limits: Limits): Promise<PathFilter | undefined> {
  if (globs.length === 0) return undefined;
  if (globs.some((glob) => glob.length > limits.patternBytes)) {
    throw invalidPattern(`A glob is longer than ${limits.patternBytes} characters.`);
  }
  const source = globs.map((glob) => `(?:${globToRe2(glob, { braces: true })})`).join("|");
  const compiled = await compileRe2(source, {
    caseSensitive: true,
    fixed: false,
    maxProgram: limits.searchProgram,
  });
  return (path) => compiled.testExact(path);
}

function patternGlobs(pattern: string): string[] {
  const glob = fromRoot(pattern);
  if (glob === "") throw invalidPattern("The glob is empty: `**` matches every file.");
  return [glob.endsWith("/") ? `${glob}**` : glob];
}

/** A name without wildcards may be that of a folder, and then stands for what is in it. */
function includeGlobs(written: string): string[] {
  const glob = anywhere(written);
  return /[*?[{]/.test(glob.replace(/^\*\*\//, "")) ? [glob] : [glob, `${glob}/**`];
}

function excludeGlobs(written: string): string[] {
  const glob = anywhere(written);
  return [glob, `${glob}/**`];
}

/** A glob without a slash is about names, in whatever folder. */
function anywhere(written: string): string {
  const glob = fromRoot(written).replace(/\/+$/, "");
  return written.replace(/\/+$/, "").includes("/") ? glob : `**/${glob}`;
}

function fromRoot(written: string): string {
  return written.replace(/^(?:\.?\/)+/, "");
}
