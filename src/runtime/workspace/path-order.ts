/** The order of paths and names everywhere: by UTF-16 code units, not by locale, nor by UTF-8 as SQLite has it. */
export function compareCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
