import * as z from "zod";
import { LightAgentError } from "../../protocol/errors.ts";
import { isTooDeep } from "../call-arguments.ts";
import { jsonInText, parseValue, withoutThinking } from "../text-json.ts";

/** A JSON Schema as it stands in a definition. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What an answer has to be. */
export interface OutputSchema {
  readonly schema: JsonSchema;
  /** The answer that a reply's text holds, as the model gave it, or what is wrong with it. */
  read(text: string): OutputReading;
}

export type OutputReading =
  | { readonly ok: true; readonly value: object }
  | { readonly ok: false; readonly issues: readonly string[] };

/** Most characters of a schema as JSON: it is part of every request. */
const SCHEMA_CHARS = 32_768;
/** Most issues that the model is told of. */
const ISSUES = 10;

/**
 * Compiles a JSON Schema for an object or a list. Refused is what could hang the product: regular expressions, and
 * references, which may be endless.
 * @throws LightAgentError `invalid_request`
 */
export function compileOutputSchema(schema: JsonSchema): OutputSchema {
  const text = JSON.stringify(schema);
  if (text.length > SCHEMA_CHARS || isTooDeep(text))
    throw invalid(`it has more than ${SCHEMA_CHARS} characters`);
  if (schema["type"] !== "object" && schema["type"] !== "array")
    throw invalid("its type is not object or array");
  const refused = /"(pattern|patternProperties|\$ref|\$dynamicRef)":/.exec(text)?.[1];
  if (refused !== undefined) throw invalid(`it uses ${refused}`);
  let compiled: z.ZodType;
  try {
    compiled = z.fromJSONSchema({ ...schema });
  } catch {
    throw invalid("it is not valid, or uses what is not supported");
  }
  return { schema, read: (reply) => readWith(compiled, reply) };
}

/** A zod schema of an object or a list as one for answers. @throws LightAgentError `invalid_request` */
export function zodOutputSchema(type: z.ZodType): OutputSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, { io: "input" });
  return { schema, read: (reply) => readWith(type, reply) };
}

/** The whole text, or else the first JSON in it that fits. */
function readWith(type: z.ZodType, reply: string): OutputReading {
  const text = withoutThinking(reply);
  const whole = parseValue(text);
  const values = whole === null ? jsonInText(text).map(({ value }) => value) : [whole];
  const fitting = values.find((value) => type.safeParse(value).success);
  if (fitting) return { ok: true, value: fitting };
  const [first] = values;
  if (first === undefined) return { ok: false, issues: ["It holds no JSON object or list."] };
  const { error } = type.safeParse(first);
  const issues = (error?.issues ?? []).slice(0, ISSUES);
  return {
    ok: false,
    issues: issues.map(({ path, message }) => `${path.join(".") || "(root)"}: ${message}`),
  };
}

function invalid(reason: string): LightAgentError {
  return new LightAgentError("invalid_request", `The output schema cannot be used: ${reason}.`);
}
