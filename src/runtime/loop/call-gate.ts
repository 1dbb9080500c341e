import type { ToolCall } from "../protocol/durable-events.ts";
import type { CallState } from "../protocol/session-fold.ts";

/** What a policy says of a call. */
export interface Verdict {
  readonly effect: "allow" | "ask" | "deny";
  readonly ruleId?: string;
  readonly reason?: string;
}

/** The permissions of an agent, as the loop asks them: synchronous and total. */
export interface PermissionGate {
  /** Names the policy, so that an approval says what it was asked under. */
  readonly version: string;
  /** Verdicts are told and not enforced. */
  readonly dryRun: boolean;
  verdict(call: Pick<ToolCall, "name" | "args">): Verdict;
}

/** Lets everything run. */
export const OPEN_GATE: PermissionGate = {
  version: "none",
  dryRun: false,
  verdict: () => ({ effect: "allow" }),
};

/** What a person's "do not ask again" holds for: this tool under this rule, not whatever else may be asked about it. */
export function rememberedAs(tool: string, { ruleId = "" }: Verdict): string {
  return `${tool} ${ruleId}`;
}

/** A decision on one call: a fact, or a question to a person. */
export type GateDecision =
  | {
      readonly kind: "permission";
      readonly call: ToolCall;
      readonly decision: "allow" | "deny";
      readonly source: "policy" | "user" | "auto";
      readonly verdict: Verdict;
      readonly simulated: boolean;
    }
  | {
      readonly kind: "ask";
      readonly call: ToolCall;
      readonly verdict: Verdict;
      readonly policyVersion: string;
    };

/**
 * What becomes of a call that nobody has decided yet. After a person has allowed it the policy is asked again: one that
 * has become a denial wins, since it may have changed while the approval waited.
 */
export function decideCall(
  state: CallState,
  gate: PermissionGate,
  remembered: ReadonlySet<string>,
): GateDecision {
  const { call, approval } = state;
  const verdict = gate.verdict(call);
  const permission = (
    decision: "allow" | "deny",
    source: "policy" | "user" | "auto",
    why: Verdict = verdict,
    simulated = false,
  ): GateDecision => ({ kind: "permission", call, decision, source, verdict: why, simulated });
  if (verdict.effect === "deny")
    return permission(gate.dryRun ? "allow" : "deny", "policy", verdict, gate.dryRun);
  if (approval?.decision) {
    if (approval.decision === "allow") return permission("allow", "user");
    const byPerson = approval.decision === "deny";
    return permission("deny", byPerson ? "user" : "auto", {
      effect: "deny",
      reason: `approval ${approval.decision}`,
    });
  }
  if (verdict.effect === "allow") return permission("allow", "policy");
  if (gate.dryRun) return permission("allow", "policy", verdict, true);
  if (remembered.has(rememberedAs(call.name, verdict)))
    return permission("allow", "auto", { ...verdict, reason: "allowed for this session" });
  return { kind: "ask", call, verdict, policyVersion: gate.version };
}
