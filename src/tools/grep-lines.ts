import type { SearchMatch } from "../runtime/workspace/workspace.ts";

interface ShownLine {
  readonly text: string;
  readonly matches: boolean;
}

/**
 * Matches as lines: `path:line:text`, with the lines around them as `path-line-text`, each line once, and `--` where
 * lines are left out between them.
 */
export function grepLines(matches: readonly SearchMatch[]): string[] {
  const lines: string[] = [];
  const withContext = matches.some(({ before, after }) => before !== undefined || after !== undefined);
  for (const [path, shown] of byFile(matches)) {
    let previous: number | undefined;
    for (const [line, { text, matches: isMatch }] of [...shown].sort(([a], [b]) => a - b)) {
      const gap = previous === undefined ? lines.length > 0 : line > previous + 1;
      if (withContext && gap) lines.push("--");
      lines.push(isMatch ? `${path}:${line}:${text}` : `${path}-${line}-${text}`);
      previous = line;
    }
  }
  return lines;
}

function byFile(matches: readonly SearchMatch[]): Map<string, Map<number, ShownLine>> {
  const files = new Map<string, Map<number, ShownLine>>();
  for (const { path, line, text, before = [], after = [] } of matches) {
    const shown = files.get(path) ?? new Map<number, ShownLine>();
    files.set(path, shown);
    for (const [index, around] of [...before, text, ...after].entries()) {
      const number = line - before.length + index;
      const isMatch = number === line;
      if (isMatch || !shown.has(number)) shown.set(number, { text: around, matches: isMatch });
    }
  }
  return files;
}
