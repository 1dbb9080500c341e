import type { Answer } from "../durable/answer.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";

/** The value of an object's answer. @throws what the object answered instead, with the same code */
export function unwrap<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  const { code, message, details } = answer.error;
  throw new LightAgentError(code, message, details ? { ...details } : undefined);
}
