import { cutText } from "../protocol/content.ts";

/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";

/** How far beyond the shown part a secret is looked for that begins within it. */
const LOOK_AHEAD = 1_024;

/** Ends of names whose values are secrets: `DB_PASSWORD`, `clientSecret`, `x-api-key`. */
const SECRET_NAME = [
  "pass(?:word|wd|phrase)",
  "pwd",
  "secret",
  "token",
  "credentials?",
  "[_-]key",
  "(?:api|access|private|secret|signing|encryption)key",
].join("|");

/** Headers whose whole value is secret. */
const SECRET_HEADER = "authorization|cookie";

const PRIVATE_KEY = "-----BEGIN [a-z0-9 ]*PRIVATE KEY[^]*?(?:-----END [a-z0-9 ]*-----|$)";

/** What follows the `=` or `:` of a secret: a key block, a quoted string (to the end of its line if it has no end), or a word. */
const VALUE = [
  `["'\`\\\\]{0,2}${PRIVATE_KEY}`,
  String.raw`\\"[^"]*"`,
  String.raw`"(?:\\[^]|[^"\\])*"`,
  String.raw`'(?:\\[^]|[^'\\])*'`,
  "`[^`]*`",
  String.raw`\\?["'\`][^\r\n]*`,
  String.raw`[^\s"'\`&=:>][^\s"'\`&]*`,
].join("|");

/**
 * Each match is a secret, and only it: what tells it apart from other text is looked at, not taken. Constant, and linear
 * in the text: whatever is repeated either begins at a fixed word or where a run of its characters begins, and stops
 * at a character that is not of the run.
 */
const SECRET = new RegExp(
  [
    PRIVATE_KEY,
    String.raw`(?<=(?:${SECRET_HEADER})["'\\]{0,3}\s{0,4}[:=]\s{0,4}["'\\]{0,2})[^\s"'\\][^\r\n"'\\]*`,
    String.raw`(?<=(?:${SECRET_NAME})["'\\]{0,3}\s{0,4}[:=]{1,2}>?\s{0,4})(?:${VALUE})`,
    String.raw`(?<=--[\w-]{0,40}(?:${SECRET_NAME})\s{1,4})(?:${VALUE})`,
    String.raw`(?<=[?&](?:key|sig|signature)=)[^\s"'&]+`,
    String.raw`(?<=\bbearer(?:\s{1,4}|%20|\+))[\w.~+/=%-]{6,}`,
    String.raw`(?<=://)[^\s/@:"']*:[^\s/@"']+(?=@)`,
    // Keys of this product, of model providers, of code hosts and clouds; tokens with a signature (JWT).
    String.raw`\bla_[\w-]{1,64}\.[\w-]+\.[\w-]+`,
    String.raw`(?<![a-z0-9])[sr]k[-_][\w-]{6,}`,
    String.raw`(?<![a-z0-9])(?:gh[pousr]_|github_pat_|hf_|npm_)\w{20,}`,
    String.raw`(?<![a-z0-9])(?:glpat-|xox[abeprs]-)[\w-]{10,}`,
    String.raw`(?<![a-z0-9])(?:A[KS]IA[A-Z0-9]{16}|AIza[\w-]{30,})`,
    String.raw`eyJ[\w-]{8,}(?:\.[\w-]*)*`,
    String.raw`(?<![\w.%+-])[\w.%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}`,
  ].join("|"),
  "gi",
);

const SECRET_FIELD = new RegExp(`(?:${SECRET_NAME}|${SECRET_HEADER})$`, "i");

/** Whether the value of a field with this name is a secret. */
export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name.slice(-LOOK_AHEAD));
}

/**
 * At most about `length` characters of a text, with its secrets replaced: keys and tokens, values of names that mean
 * secrets, credentials in URLs, e-mail addresses. Says how much of a longer text is left out. Looks at no more of it
 * than it needs, so that the time does not grow with the text.
 */
export function redactText(text: string, length: number): string {
  const seen = text.slice(0, length + LOOK_AHEAD);
  let shown = "";
  let at = 0;
  for (const { index, 0: secret } of seen.matchAll(SECRET)) {
    if (index >= length) break;
    shown += seen.slice(at, index) + REDACTED;
    at = index + secret.length;
  }
  if (at < length) {
    const rest = cutText(seen.slice(at), length - at);
    shown += rest;
    at += rest.length;
  }
  return at < text.length ? `${shown}… [${text.length - at} more characters]` : shown;
}
