import type { RE2JS } from "re2js";
import { cutText } from "../protocol/content.ts";
import { LightAgentError } from "../protocol/errors.ts";

const FRAGMENT_LENGTH = 100;
const SUPPORTED =
  "Patterns have RE2 syntax: look-around, back-references and possessive quantifiers do not exist.";

export interface Re2Options {
  readonly caseSensitive: boolean;
  /** Take the pattern as it stands. */
  readonly fixed: boolean;
  /** The most instructions that the compiled pattern may have: its cost per character at worst. */
  readonly maxProgram: number;
}

/**
 * Compiles a pattern for re2js, which needs time in proportion to the text whatever the pattern; JavaScript's own
 * engine, also behind glob libraries, can take for ever on 30 characters. `^` and `$` stand for ends of lines.
 * @throws LightAgentError `invalid_pattern` with re2js's reason; the part that it is about is `details.fragment`
 */
export async function compileRe2(pattern: string, options: Re2Options): Promise<RE2JS> {
  // Loaded at first use: it takes 20 ms that a session without a search need not spend.
  const { RE2JS, RE2JSException, RE2JSSyntaxException } = await import("re2js");
  const flags = RE2JS.MULTILINE | (options.caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(options.fixed ? RE2JS.quote(pattern) : pattern, flags);
  } catch (caught) {
    if (!(caught instanceof RE2JSException)) throw caught;
    if (!(caught instanceof RE2JSSyntaxException)) throw tooComplex();
    const fragment = cutText(caught.getPattern() ?? "", FRAGMENT_LENGTH);
    throw new LightAgentError(
      "invalid_pattern",
      `The pattern is not valid: ${caught.getDescription()}. ${SUPPORTED}`,
      fragment === "" ? undefined : { fragment },
    );
  }
  if (compiled.programSize() > options.maxProgram) {
    throw tooComplex();
  }
  return compiled;
}

function tooComplex(): LightAgentError {
  return invalidPattern("The pattern is too complex: use smaller repetition counts or fewer alternatives.");
}

export function invalidPattern(message: string): LightAgentError {
  return new LightAgentError("invalid_pattern", message);
}
