import * as z from "zod";
import { LightAgentError } from "../protocol/errors.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import { INTENT_FIELD, withIntent } from "./intent.ts";
import type { Tool, ToolContext } from "./tool.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Names that would clash with the intent or reach into a prototype. */
const RESERVED_FIELDS = [INTENT_FIELD, "__proto__", "constructor"];

/**
 * What a model sees of a tool. Everything that can be wrong with a definition is found here, when it is registered,
 * and not in the middle of a turn.
 * @throws LightAgentError `invalid_request`
 */
export function toToolSpec<Context extends ToolContext>(tool: Tool<z.ZodObject, Context>): ToolSpec {
  const { name, description, schema } = tool;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw invalid("a tool's name is 1 to 64 letters, digits, `_` or `-`");
  }
  if (typeof description !== "string" || description.trim() === "") {
    throw invalid(`the tool ${name} has no description`);
  }
  if (!(schema instanceof z.ZodObject)) throw invalid(`the schema of the tool ${name} is not a zod object`);
  for (const field of RESERVED_FIELDS) {
    if (Object.hasOwn(schema.shape, field)) throw invalid(`the tool ${name} may not have a field ${field}`);
  }
  return { name, description, schema: withIntent(jsonSchemaOf(name, schema)) };
}

/** The JSON Schema of the input. `$schema` is left out because some providers refuse it. */
function jsonSchemaOf(name: string, schema: z.ZodObject): ToolSpec["schema"] {
  let converted: Record<string, unknown>;
  try {
    const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input" });
    converted = rest;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`the schema of the tool ${name} has no JSON Schema: ${reason}`, cause);
  }
  // Otherwise the intent would be asked for in every nested object too.
  if (JSON.stringify(converted).includes('"$ref":"#"')) {
    throw invalid(`the schema of the tool ${name} refers to itself as a whole`);
  }
  return { ...converted, type: "object" };
}

function invalid(message: string, cause?: unknown): LightAgentError {
  return new LightAgentError("invalid_request", `Cannot register: ${message}.`, undefined, { cause });
}
