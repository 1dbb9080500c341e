import type { ToolSpec } from "../protocol/tool-spec.ts";

/** The argument in which a model says why it makes a call; every exposed schema has it, no tool receives it. */
export const INTENT_FIELD = "_intent";

const INTENT_SCHEMA = {
  type: "string",
  description: "A short reason for this call, for the people who watch.",
};

/** The schema of some arguments with the intent as its first, required field. */
export function withIntent(schema: ToolSpec["schema"]): ToolSpec["schema"] {
  const properties = { [INTENT_FIELD]: INTENT_SCHEMA, ...asRecord(schema.properties) };
  const required = [INTENT_FIELD, ...(Array.isArray(schema.required) ? schema.required : [])];
  return { ...schema, properties, required };
}

/** Why the call is made, as far as the model said so. */
export function intentOf(args: Readonly<Record<string, unknown>>): string | undefined {
  const intent = Object.hasOwn(args, INTENT_FIELD) ? args[INTENT_FIELD] : undefined;
  if (typeof intent !== "string") return undefined;
  return intent.trim() === "" ? undefined : intent.trim();
}

/** The arguments that the tool knows. What is not an object is left for the tool's schema to refuse. */
export function withoutIntent(args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const { [INTENT_FIELD]: _intent, ...rest } = args as Record<string, unknown>;
  return rest;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
