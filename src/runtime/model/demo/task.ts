/** What the demo can make of a request; everything else is `unknown`. */
export type Task =
  | { kind: "find"; symbol: string }
  | { kind: "search"; text: string }
  | { kind: "list"; path: string | null }
  | { kind: "read"; path: string; startLine: number | null; endLine: number | null }
  | { kind: "write"; path: string; content: string }
  | { kind: "edit"; path: string; old: string; new: string; all: boolean }
  | { kind: "unknown" };

/** A longer request is more than these rules are made for; the bound also keeps the expressions below cheap. */
const LONGEST = 4_000;

/** Reads a request by rules: the first that makes a task of it stands. */
export function taskOf(asked: string): Task {
  const text = asked
    .trim()
    .replace(/^(?:please|can you|could you|would you)\s+/i, "")
    .replace(/[\s.?!]+$/, "");
  if (text === "" || asked.length > LONGEST) return { kind: "unknown" };
  for (const rule of [writeTask, editTask, listTask, usesTask, searchTask, readTask, findTask]) {
    const task = rule(text);
    if (task) return task;
  }
  return { kind: "unknown" };
}

/** "write hello to notes.txt", "create notes.txt with hello" */
function writeTask(text: string): Task | null {
  const write = /^(?:write|put|save)\s([^]+)\s(?:to|into|in)\s(\S+)$/i.exec(text);
  const create = /^create\s(?:the\s|a\s)?(?:file\s)?(\S+)\s(?:with|containing)\s([^]+)$/i.exec(text);
  const path = unquote(write?.[2] ?? create?.[1] ?? "");
  const content = unquote(write?.[1] ?? create?.[2] ?? "");
  return looksLikePath(path) ? { kind: "write", path, content } : null;
}

/** "in a.txt replace x by y", "replace all x with y in a.txt" */
function editTask(text: string): Task | null {
  const first = /^in\s(\S+?),?\s(?:replace|change)\s([^]+?)\s(?:by|with|to)\s([^]+)$/i.exec(text);
  const last = /^(?:replace|change)\s([^]+?)\s(?:by|with|to)\s([^]+)\sin\s(\S+)$/i.exec(text);
  const path = unquote(first?.[1] ?? last?.[3] ?? "");
  if (!looksLikePath(path)) return null;
  const written = first?.[2] ?? last?.[1] ?? "";
  const old = written.replace(/^(?:all|every)\s/i, "");
  const replacement = unquote(first?.[3] ?? last?.[2] ?? "");
  return { kind: "edit", path, old: unquote(old), new: replacement, all: old !== written };
}

/** "what files are there?", "list the files in src", "ls src" */
function listTask(text: string): Task | null {
  const command = /^(?:ls|tree|list)(?:\s(\S+))?$/i.exec(text);
  if (!command && !/^(?:what|which|list|show)\b.*\bfiles\b/i.test(text)) return null;
  const named = /\b(?:in|under)\s(?:the\s)?(?:folder\s|directory\s)?(\S+)$/i.exec(text);
  const path = unquote(command?.[1] ?? named?.[1] ?? "");
  const everything = /^(?:files|here|there|it|this|workspace|project|repository|repo)?$/i.test(path);
  return { kind: "list", path: everything ? null : path };
}

/** "who uses parse?", "find all usages of parse" */
function usesTask(text: string): Task | null {
  const match =
    /^(?:who|what)\s(?:uses|calls)\s(\S+)$/i.exec(text) ??
    /^where(?:\sis|'s)\s(\S+)\s(?:used|called)$/i.exec(text) ??
    /\b(?:usages?|uses|references|callers)\s(?:of|to)\s(\S+)$/i.exec(text);
  return match?.[1] === undefined ? null : { kind: "search", text: symbolOf(match[1]) };
}

/** "search for not found", "grep TODO" */
function searchTask(text: string): Task | null {
  const match = /^(?:search|grep|look)(?:\sfor)?(?:\sthe\stext)?\s([^]+)$/i.exec(text);
  return match?.[1] === undefined ? null : { kind: "search", text: unquote(match[1]) };
}

/** "show src/a.ts", "read lines 3 to 9 of src/a.ts" */
function readTask(text: string): Task | null {
  const match = /^(?:show|read|open|cat|print|what(?:'s|\sis)\sin)\b(?:.*\s)?(\S+)$/i.exec(text);
  const path = unquote(match?.[1] ?? "");
  if (!looksLikePath(path)) return null;
  const range = /\blines?\s(\d{1,7})(?:\s?(?:-|to)\s?(\d{1,7}))?/i.exec(text);
  const startLine = range ? Math.max(1, Number(range[1])) : null;
  const endLine = range ? Math.max(startLine ?? 1, Number(range[2] ?? range[1])) : null;
  return { kind: "read", path, startLine, endLine };
}

/** Words around the name in "where is the function X defined?". */
const NOISE = new Set(
  (
    "where where's is are the a an find locate show me which what file files go to in this workspace project code " +
    "has defines define declares declare defined declared implemented located found definition declaration of do " +
    "does we you i they function class method type interface struct enum trait constant variable symbol component"
  ).split(" "),
);

/** "where is X defined?", "find X", "definition of X": a question about exactly one name. */
function findTask(text: string): Task | null {
  if (
    !/^(?:where|find|locate|which\sfile|what\sfile|show\sme|(?:go\sto\s)?(?:the\s)?definition)\b/i.test(text)
  ) {
    return null;
  }
  const names = text.split(/\s+/).filter((word) => !NOISE.has(word.toLowerCase()));
  const symbol = symbolOf(names[0] ?? "");
  return names.length === 1 && /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(symbol) ? { kind: "find", symbol } : null;
}

/** The name itself: without quotes, a call's parentheses, and what it is a member of. */
function symbolOf(word: string): string {
  const bare = unquote(word).replace(/\(\)$/, "");
  return bare.split(/\.|::|#/).findLast((part) => part !== "") ?? "";
}

/** What stands between quotes, or the text itself. */
function unquote(text: string): string {
  const quoted = /^([`'"])([^]*)\1$/.exec(text.trim());
  return quoted?.[2] ?? text.trim();
}

/** Whether a word is a file's path rather than a plain word: it has a dot or a slash in it. */
function looksLikePath(text: string): boolean {
  return /^[^\s`'"<>|]*[./][^\s`'"<>|]*$/.test(text) && /[\p{L}\p{N}]/u.test(text);
}
