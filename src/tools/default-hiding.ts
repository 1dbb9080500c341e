/** Folders that drown what a search is for. */
const FOLDERS = [".git", "node_modules"];

/** What a search leaves out unless its arguments name it: where they name such a folder, nothing else that is ignored. */
export function defaultHiding(...named: readonly string[]): { exclude: string[]; hideIgnored: boolean } {
  const exclude = FOLDERS.filter((folder) => !named.some((argument) => argument.split("/").includes(folder)));
  return { exclude, hideIgnored: exclude.length === FOLDERS.length };
}
