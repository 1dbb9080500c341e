import { LightAgentError, isLightAgentError } from "../protocol/errors.ts";
import type { Effect, PolicyDefinition, Rule } from "../protocol/policy-definition.ts";
import { argumentAt } from "./argument-at.ts";
import { compileCondition } from "./condition.ts";
import { EFFECTS } from "./verdict.ts";
import type { GuardedCall, Verdict } from "./verdict.ts";
import { PolicyRegexes } from "./policy-regexes.ts";
import { fitsGlob } from "./wildcard.ts";

/** A rule that is ready to be asked. */
export interface CompiledRule {
  readonly verdict: Verdict & { readonly ruleId: string };
  applies(call: GuardedCall): boolean;
}

/** The name of a rule in decisions and errors. */
export function ruleName(id: string | undefined, index: number): string {
  return id ?? `rule-${index + 1}`;
}

/**
 * All rules of a policy: those that are written out, then those of the short lists, whose name is `<effect>:<glob>`.
 * @throws LightAgentError `invalid_request` that names the rule
 */
export async function compileRules(definition: PolicyDefinition): Promise<CompiledRule[]> {
  const regexes = new PolicyRegexes();
  const compiled = new Map<string, CompiledRule>();
  for (const [index, rule] of (definition.rules ?? []).entries()) {
    const name = ruleName(rule.id, index);
    if (compiled.has(name)) throw ruleError(name, "Another rule has the same id.");
    compiled.set(name, await compileRule(name, rule, regexes));
  }
  const listed = EFFECTS.flatMap((effect) =>
    (definition[effect] ?? []).map((glob) => listedRule(effect, glob)),
  );
  return [...compiled.values(), ...listed];
}

async function compileRule(name: string, rule: Rule, regexes: PolicyRegexes): Promise<CompiledRule> {
  const { description, tool, when = {}, effect } = rule;
  const isTool = tool === undefined ? () => true : toolTest([tool].flat());
  const tests: ((args: unknown) => boolean)[] = [];
  for (const [field, condition] of Object.entries(when)) {
    const path = field.split(".");
    const test = await compileCondition(condition, regexes).catch((caught: unknown) => {
      throw isLightAgentError(caught) ? ruleError(name, caught.message, field) : caught;
    });
    tests.push((args) => {
      const value = argumentAt(args, path);
      // What is not there is nothing that a condition, `not` included, could be about.
      return value !== undefined && test(value);
    });
  }
  return {
    verdict: { effect, ruleId: name, ...(description === undefined ? {} : { reason: description }) },
    applies: (call) => isTool(call.name) && tests.every((test) => test(call.args)),
  };
}

function listedRule(effect: Effect, glob: string): CompiledRule {
  const isTool = toolTest([glob]);
  return { verdict: { effect, ruleId: `${effect}:${glob}` }, applies: ({ name }) => isTool(name) };
}

function toolTest(globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map((glob) => Array.from(glob));
  return (name) => {
    const characters = Array.from(name);
    return patterns.some((pattern) => fitsGlob(pattern, characters));
  };
}

/** A fault of a policy; `details` says which rule, and which field of its `when`. */
export function ruleError(rule: string, fault: string, field?: string): LightAgentError {
  const details = { rule, ...(field === undefined ? {} : { field }) };
  return new LightAgentError("invalid_request", `The policy's rule ${rule} is not valid: ${fault}`, details);
}
