import { LightAgentError } from "../protocol/errors.ts";
import { idSchema } from "../protocol/ids.ts";
import { policyDefinitionSchema } from "../protocol/policy-definition.ts";
import type { Effect, PolicyDefinition } from "../protocol/policy-definition.ts";
import { compileRules, ruleError, ruleName } from "./compile-rules.ts";
import { canonicalJson, digestOf } from "./digest.ts";
import { EFFECTS, POLICY_ERROR } from "./verdict.ts";
import type { GuardedCall, Verdict } from "./verdict.ts";

/** Decides about tool calls. Equal versions decide alike. */
export interface PermissionPolicy {
  readonly version: string;
  /** Verdicts are recorded as simulated, and every call runs. */
  readonly dryRun: boolean;
  /** Pure, and never throws: what fails inside is a deny. */
  verdict(call: GuardedCall): Verdict;
}

/** Of the digest; enough to tell the policies of one agent apart. */
const VERSION_CHARACTERS = 16;

/**
 * Makes a policy of its definition. Of all rules that apply to a call the strictest effect counts (deny, then ask, then
 * allow), whatever their order; the first rule of that effect is named in the verdict.
 * @throws LightAgentError `invalid_request` that names the rule, when a definition has not the documented form or one
 * of its regular expressions cannot be compiled
 */
export async function compilePolicy(definition: PolicyDefinition): Promise<PermissionPolicy> {
  const checked = check(definition);
  const rules = await compileRules(checked);
  const byStrictness = EFFECTS.map((effect) => rules.filter(({ verdict }) => verdict.effect === effect));
  const otherwise = defaultVerdict(checked.default ?? "allow");
  return {
    version: (await digestOf(checked)).slice(0, VERSION_CHARACTERS),
    dryRun: checked.dryRun ?? false,
    verdict(call) {
      try {
        for (const candidates of byStrictness) {
          const decisive = candidates.find((rule) => rule.applies(call));
          if (decisive) return decisive.verdict;
        }
        return otherwise;
      } catch {
        return POLICY_ERROR;
      }
    },
  };
}

function defaultVerdict(effect: Effect): Verdict {
  return effect === "allow" ? { effect } : { effect, reason: "no rule of the policy allows the call" };
}

/** Whoever hands over a definition may have read it from anywhere, so it is checked here whatever its type says. */
function check(definition: PolicyDefinition): PolicyDefinition {
  const parsed = policyDefinitionSchema.safeParse(definition);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw definitionError(definition, issue?.path ?? [], issue?.message ?? "unknown");
  }
  // The schema drops a field `__proto__` without a word, and a rule with one condition less applies to more calls.
  if (canonicalJson(parsed.data) !== canonicalJson(definition)) {
    throw definitionError(definition, [], "it has a field that no policy can have");
  }
  return parsed.data;
}

function definitionError(
  definition: PolicyDefinition,
  path: readonly PropertyKey[],
  fault: string,
): LightAgentError {
  const [list, index, ...inRule] = path;
  if (list === "rules" && typeof index === "number") {
    const id = idSchema.safeParse(definition.rules?.[index]?.id).data;
    return ruleError(ruleName(id, index), `${fault}.`, inRule.map(String).join("."));
  }
  const field = path.map(String).join(".");
  return new LightAgentError("invalid_request", `The policy is not valid: ${fault}.`, { field });
}
