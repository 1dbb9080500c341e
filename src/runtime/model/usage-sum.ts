import { addUsage } from "../protocol/usage.ts";
import type { Usage } from "../protocol/usage.ts";

/** The usage of several calls that make one reply; null while none of them said anything. */
export function sumUsage(left: Usage | null, right: Usage | null): Usage | null {
  if (left === null || right === null) return left ?? right;
  return addUsage(left, right);
}
