import * as z from "zod";
import { contentSchema } from "../../../src/runtime/protocol/content.ts";
import { artifactSchema, toolCallSchema } from "../../../src/runtime/protocol/durable-events.ts";
import { principalSchema } from "../../../src/runtime/protocol/principal.ts";
import { usageSchema } from "../../../src/runtime/protocol/usage.ts";

/** Shapes that docs/protocol.md describes once, under these names. */
const SHARED = new Map<unknown, string>([
  [contentSchema, "parts"],
  [toolCallSchema, "call"],
  [artifactSchema, "artifact"],
  [principalSchema, "principal"],
  [usageSchema, "usage"],
]);

/** The fields of an object as docs/protocol.md writes them: optional ones with `?`, strings without a type. */
export function describeFields(shape: Readonly<Record<string, unknown>>): string {
  return Object.entries(shape)
    .map(([name, schema]) => describeField(name, schema))
    .join(", ");
}

function describeField(name: string, schema: unknown): string {
  const optional = schema instanceof z.ZodOptional;
  const type = describeType(optional ? schema.unwrap() : schema);
  const label = optional ? `${name}?` : name;
  return type === "" || type === name ? label : `${label}: ${type}`;
}

function describeType(schema: unknown): string {
  const shared = SHARED.get(schema);
  if (shared !== undefined) return shared;
  if (schema instanceof z.ZodEnum) return schema.options.join("·");
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String).join("·");
  if (schema instanceof z.ZodArray) return `[${describeType(schema.element) || "string"}]`;
  if (schema instanceof z.ZodObject) return `{ ${describeFields(schema.shape)} }`;
  if (schema instanceof z.ZodRecord) return "object";
  if (schema instanceof z.ZodUnion)
    return schema.options.map((one) => describeType(one) || "string").join("·");
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return "";
  if (schema instanceof z.ZodNumber) return schema.isInt ? "int" : "number";
  if (schema instanceof z.ZodBoolean) return "boolean";
  if (schema instanceof z.ZodUnknown) return "any";
  throw new Error("docs/protocol.md has no word for a schema yet");
}
