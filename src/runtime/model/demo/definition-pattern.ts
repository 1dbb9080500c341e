/** Words that stand before the name in a definition, in the languages that people write. */
const KEYWORDS = [
  "class|const|let|var|val|type|interface|struct|enum|union|trait|impl|record|object|protocol|module|mod|namespace",
  "function\\*?|func|fun|fn|def[a-z]*|sub|proc|macro|static|final|typedef|define",
].join("|");

/** Neighbours that a name does not have: `\b` would know ASCII names only. */
const BEFORE = "(?:^|[^\\p{L}\\p{N}_$])";
const AFTER = "(?:[^\\p{L}\\p{N}_$]|$)";

/** The words before the name in the head of a method or of a C-like function or constant: modifiers and types. */
const TYPES = "^[ \\t]*(?:[\\w<>\\[\\],.*&:?~]+[ \\t]+)*";

/**
 * RE2 syntax for lines that may define the name: a keyword before it (also with Go's receiver between the two), the
 * head of a method or of a C-like function, or an assignment. The search engine has no look-around, so
 * {@link likelihood} sorts out what merely has the shape.
 */
export function definitionPattern(symbol: string): string {
  const name = escape(symbol);
  const head = `${TYPES}${name}[ \\t]*\\([^;]*\\)[^;]*\\{?[ \\t]*$`;
  const assignment = `${TYPES}${name}[ \\t]*(?::[^=]*)?=(?:[^=>]|$)`;
  return `${keywordSource(symbol)}|${head}|${assignment}`;
}

/**
 * How sure it is that a line which {@link definitionPattern} found is a definition: 2 for a keyword before the name, 1
 * for the shape alone, 0 for a comment, a call or a condition.
 */
export function likelihood(symbol: string, line: string): 0 | 1 | 2 {
  if (/^\s*(?:\/\/|\/\*|\*|--|;|%|#(?!\s*define))/.test(line)) return 0;
  if (new RegExp(keywordSource(symbol), "u").test(line)) return 2;
  const calls =
    /^\s*(?:if|elif|else|unless|while|until|for|foreach|switch|match|return|await|yield|throw|new|not)\b/;
  const begins = /[{:=]\s*$|\)\s*$|=/.test(line);
  return begins && !calls.test(line) ? 1 : 0;
}

function keywordSource(symbol: string): string {
  return `${BEFORE}(?:${KEYWORDS})[ \\t]+(?:\\([^)]*\\)[ \\t]*)?(?:self\\.)?${escape(symbol)}${AFTER}`;
}

function escape(symbol: string): string {
  return symbol.replaceAll("$", "\\$");
}
