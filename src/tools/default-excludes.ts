/** Folders that drown what a search is for. */
const FOLDERS = [".git", "node_modules"];

/** What a search leaves out unless its arguments name it. */
export function defaultExcludes(...named: readonly string[]): string[] {
  return FOLDERS.filter((folder) => !named.some((argument) => argument.split("/").includes(folder)));
}
