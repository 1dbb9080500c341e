const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The value at a dot path (`edits.0.old`) in the arguments of a call; undefined where there is none. Only what the
 * arguments themselves hold: no prototype's properties, no length of an array, no characters of a string.
 */
export function argumentAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    if (!Object.hasOwn(value, name) || (Array.isArray(value) && !INDEX.test(name))) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
