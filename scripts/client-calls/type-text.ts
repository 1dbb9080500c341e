/** The parts of JSON Schema that the API's description uses. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** Whether a value is given to the server: then a field that may be absent may also be `undefined`. */
export type Direction = "given" | "answered";

/** The name of a type that a schema stands for; undefined: it is written out. */
export type NameOf = (schema: JsonSchema) => string | undefined;

const INDENT = "  ";

/** A schema as a TypeScript type, all of it readonly. */
export function typeText(schema: JsonSchema, direction: Direction, nameOf: NameOf, indent = ""): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  const part = (of: JsonSchema): string => typeText(of, direction, nameOf, indent);
  const { type } = schema;
  const union =
    schema.anyOf ??
    schema.oneOf ??
    (Array.isArray(type) ? type.map((one: string) => ({ ...schema, type: one })) : undefined);
  if (union) return [...new Set(union.map(part))].join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array": {
      const item = part(schema.items ?? {});
      return `readonly ${/ [|{] |^\{/.test(item) ? `(${item})` : item}[]`;
    }
    case "object":
      return objectText(schema, direction, nameOf, indent);
    default:
      return "unknown";
  }
}

function objectText(schema: JsonSchema, direction: Direction, nameOf: NameOf, indent: string): string {
  const { properties, additionalProperties } = schema;
  if (properties) return fieldsText(schema, direction, nameOf, indent);
  const values = typeof additionalProperties === "object" ? additionalProperties : {};
  return `Readonly<Record<string, ${typeText(values, direction, nameOf, indent)}>>`;
}

/** The fields of an object in their braces. */
export function fieldsText(
  { properties = {}, required = [] }: JsonSchema,
  direction: Direction,
  nameOf: NameOf,
  indent = "",
): string {
  const deeper = indent + INDENT;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = typeText(schema, direction, nameOf, deeper);
    const optional = !required.includes(name);
    const undefinable = optional && direction === "given" ? " | undefined" : "";
    return `${deeper}readonly ${name}${optional ? "?" : ""}: ${type}${undefinable};\n`;
  });
  return fields.length === 0 ? "Readonly<Record<string, never>>" : `{\n${fields.join("")}${indent}}`;
}
