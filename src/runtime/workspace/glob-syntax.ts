export interface GlobOptions {
  /** Whether `{a,b}` stands for `a` or `b`: gitignore files have no braces. */
  readonly braces: boolean;
}

const META = /[\\.+*?()|[\]{}^$]/g;

/**
 * A glob as RE2 syntax: `*` and `?` stay within a name, `**` between slashes is any number of folders, `[a-z]` and
 * `[!a-z]` are one character, `\` takes the next character as it stands. A name that begins with a dot is one like any
 * other. What is not well-formed, like a lone `[`, stands for itself.
 */
export function globToRe2(glob: string, { braces }: GlobOptions): string {
  let source = "";
  let at = 0;
  const open: ("group" | "literal")[] = [];
  while (at < glob.length) {
    const char = glob.charAt(at);
    const starts = at === 0 || "/{,".includes(glob.charAt(at - 1));
    const bracket = char === "[" ? bracketAt(glob, at) : null;
    if (char === "\\" && at + 1 < glob.length) {
      const literal = String.fromCodePoint(glob.codePointAt(at + 1) ?? 0);
      source += quote(literal);
      at += 1 + literal.length;
    } else if (starts && glob.startsWith("**/", at)) {
      source += "(?:.*/)?";
      at += 3;
    } else if (char === "*") {
      const stars = /^\*+/.exec(glob.slice(at))?.[0].length ?? 1;
      const next = glob.charAt(at + stars);
      const ends = next === "" || (braces && ",}".includes(next));
      if (starts && stars === 2 && ends) source += ".+";
      // A name is never empty.
      else source += starts && (ends || next === "/") ? "[^/]+" : "[^/]*";
      at += stars;
    } else if (char === "?") {
      source += "[^/]";
      at += 1;
    } else if (bracket) {
      source += bracket.source;
      at = bracket.end;
    } else if (braces && char === "{") {
      const kind = closes(glob, at) ? "group" : "literal";
      open.push(kind);
      source += kind === "group" ? "(?:" : "\\{";
      at += 1;
    } else if (braces && char === "}" && open.length > 0) {
      source += open.pop() === "group" ? ")" : "\\}";
      at += 1;
    } else if (braces && char === "," && open.at(-1) === "group") {
      source += "|";
      at += 1;
    } else {
      source += quote(char);
      at += 1;
    }
  }
  return source;
}

/** A bracket expression; null where it is not closed or empty. */
function bracketAt(glob: string, start: number): { source: string; end: number } | null {
  const body = /^\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]/s.exec(glob.slice(start));
  const [whole, negation, members] = body ?? [];
  if (!whole || !members) return null;
  const escaped = members.replaceAll(/\\(.)|([[\]\\^/])/gs, (_, literal?: string, meta?: string) =>
    literal === undefined ? `\\${meta}` : literal.replace(/[[\]\\^/-]/, "\\$&"),
  );
  return { source: negation ? `[^/${escaped}]` : `[${escaped}]`, end: start + whole.length };
}

function closes(glob: string, start: number): boolean {
  let depth = 0;
  for (let at = start; at < glob.length; at += 1) {
    const char = glob.charAt(at);
    if (char === "\\") at += 1;
    else if (char === "{") depth += 1;
    else if (char === "}" && --depth === 0) return true;
  }
  return false;
}

function quote(literal: string): string {
  return literal.replaceAll(META, "\\$&");
}
