import * as z from "zod";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import type { Tool } from "../../../src/runtime/tool/tool.ts";

/** The part of JSON Schema that arguments of tools use. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** What the reference says of one tool, as Markdown. */
export function toolReference(
  tool: Pick<
    Tool<z.ZodObject, never>,
    "name" | "description" | "schema" | "readOnly" | "asksPerson" | "timeoutMs"
  > & {
    readonly findOutcome?: unknown;
  },
  isDefault: boolean,
): string {
  const schema = z.toJSONSchema(tool.schema, { io: "input" }) as Schema;
  return [
    `> ${plain(tool.description)}`,
    "",
    factsOf(tool, isDefault),
    "",
    "| argument | is | |",
    "|---|---|---|",
    ...rowsOf(schema, ""),
  ].join("\n");
}

function factsOf(
  { readOnly, asksPerson, timeoutMs, findOutcome }: Parameters<typeof toolReference>[0],
  isDefault: boolean,
): string {
  const effect =
    readOnly === true ? "Changes nothing." : asksPerson === true ? "Waits for a person." : "Changes files.";
  const crash =
    readOnly === true
      ? "After a crash it runs again."
      : findOutcome === undefined
        ? ""
        : "After a crash its effect is looked up.";
  const time = asksPerson === true ? "" : `Time: ${(timeoutMs ?? DEFAULT_LIMITS.toolMs) / 1_000} s.`;
  const given = isDefault ? "Agents have it by default." : "An agent has it only when its `tools` name it.";
  return [effect, crash, time, given].filter((fact) => fact !== "").join(" ");
}

/** A row for each field, what is inside lists below its list. */
function rowsOf(schema: Schema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    const inside = field.items?.properties ? rowsOf(field.items, `${prefix}${name}[].`) : [];
    const about = plain(field.description ?? "").replaceAll("|", "\\|");
    return [`| \`${prefix}${name}${optional}\` | ${typeOf(field)} | ${about} |`, ...inside];
  });
}

function typeOf({ type, items = {}, minimum, minItems, maxItems, ...schema }: Schema): string {
  switch (type) {
    case "string":
      return `text${charactersOf(schema)}`;
    case "integer":
      return `whole number from ${minimum ?? 0} on`;
    case "boolean":
      return "true or false";
    case "array": {
      const count = maxItems === undefined ? "" : `${minItems ?? 0} to ${maxItems} `;
      return `list of ${count}${items.type === "object" ? "objects" : `texts${charactersOf(items)}`}`;
    }
    default:
      throw new TypeError(`The reference has no words for a field of type ${type}.`);
  }
}

function charactersOf({ minLength, maxLength }: Schema): string {
  if (maxLength !== undefined)
    return ` of ${minLength ?? 0} to ${maxLength.toLocaleString("en-US")} characters`;
  return minLength === undefined ? "" : ", not empty";
}

/** A sentence of the code in which no star makes anything bold. */
function plain(text: string): string {
  const parts = text.split("`");
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll("*", "\\*") : part)).join("`");
}
