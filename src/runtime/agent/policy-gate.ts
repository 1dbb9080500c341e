import { compilePolicy } from "../guard/permission-policy.ts";
import type { PermissionGate } from "../loop/call-gate.ts";
import type { PolicyDefinition } from "../protocol/policy-definition.ts";

/** The compiled policy, made once, when the first turn needs it. One that does not compile denies everything. */
export function gateOf(policy: PolicyDefinition | undefined): () => Promise<PermissionGate | null> {
  if (!policy) return async () => null;
  let compiled: Promise<PermissionGate> | undefined;
  const closed: PermissionGate = {
    version: "invalid",
    dryRun: false,
    verdict: () => ({ effect: "deny", reason: "policy error" }),
  };
  return () => (compiled ??= compilePolicy(policy).catch(() => closed));
}
