import type { PermissionPolicy } from "./permission-policy.ts";
import { EFFECTS, POLICY_ERROR } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";

/**
 * One policy that says of each call what the strictest of several says, so that no policy can loosen another: a
 * deny that an operator sets cannot be overridden by a tenant. Policies in dry run decide only among themselves.
 */
export function composePolicies(
  ...policies: readonly [PermissionPolicy, ...PermissionPolicy[]]
): PermissionPolicy {
  const enforced = policies.filter(({ dryRun }) => !dryRun);
  const dryRun = enforced.length === 0;
  const deciding = dryRun ? policies : enforced;
  return {
    version: policies
      .map(({ version }) => version)
      .toSorted()
      .join("+"),
    dryRun,
    verdict(call) {
      try {
        return strictest(deciding.map((policy) => policy.verdict(call)));
      } catch {
        return POLICY_ERROR;
      }
    },
  };
}

function strictest(verdicts: readonly Verdict[]): Verdict {
  for (const effect of EFFECTS) {
    const found = verdicts.find((verdict) => verdict.effect === effect);
    if (found) return found;
  }
  return POLICY_ERROR;
}
