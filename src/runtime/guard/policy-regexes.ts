import type { RE2JS } from "re2js";
import { LightAgentError } from "../protocol/errors.ts";

/**
 * Instructions of all regular expressions of a policy together. At worst each costs a step per character of the
 * arguments; an ordinary expression has 10 to 50.
 */
const MAX_INSTRUCTIONS = 4_000;

/**
 * Compiles the regular expressions of one policy for re2js, which needs time in proportion to the text whatever the
 * expression: the model chooses the text, and JavaScript's own engine can take for ever on 30 characters.
 */
export class PolicyRegexes {
  #instructions = 0;

  /**
   * A test of whether the expression matches somewhere in a text. `^` and `$` are the ends of the whole text: with
   * ends of lines, a second line could smuggle in what a rule looks for, or hide it.
   * @throws LightAgentError `invalid_request` when it is not RE2 syntax, or too complex
   */
  async compile(regex: string): Promise<(text: string) => boolean> {
    // Loaded at first use: most policies need none.
    const { RE2JS, RE2JSException, RE2JSSyntaxException } = await import("re2js");
    let compiled: RE2JS;
    try {
      compiled = RE2JS.compile(regex);
    } catch (caught) {
      if (!(caught instanceof RE2JSException)) throw caught;
      if (!(caught instanceof RE2JSSyntaxException)) throw tooComplex();
      throw new LightAgentError(
        "invalid_request",
        `The regular expression is not valid RE2 syntax: ${caught.getDescription()}.`,
      );
    }
    this.#instructions += compiled.programSize();
    if (this.#instructions > MAX_INSTRUCTIONS) throw tooComplex();
    return (text) => compiled.test(text);
  }
}

function tooComplex(): LightAgentError {
  return new LightAgentError(
    "invalid_request",
    "The regular expressions of the policy are too complex together: use smaller repetition counts or fewer alternatives.",
  );
}
