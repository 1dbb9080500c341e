import type { PolicyDefinition } from "../protocol/policy-definition.ts";

/** The definition of a policy that refuses every call but those that its rules allow or ask about. */
export function strictPolicy(definition: Omit<PolicyDefinition, "default"> = {}): PolicyDefinition {
  return { ...definition, default: "deny" };
}
