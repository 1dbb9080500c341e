import type { ToolCall } from "../protocol/durable-events.ts";
import type { Effect } from "../protocol/policy-definition.ts";

/** What a policy looks at: the tool's name and the arguments as the model gave them, without the intent. */
export type GuardedCall = Pick<ToolCall, "name" | "args">;

/** What a policy says of one call. */
export interface Verdict {
  readonly effect: Effect;
  /** The rule that decided; none where the default did. */
  readonly ruleId?: string;
  /** In the words of the policy's author; safe to show to the model. */
  readonly reason?: string;
}

/** The strictest first: this is the whole precedence of rules and of policies. */
export const EFFECTS: readonly Effect[] = ["deny", "ask", "allow"];

/** The verdict where a policy itself fails: whatever the fault, no call slips through it. */
export const POLICY_ERROR: Verdict = { effect: "deny", reason: "policy error" };
