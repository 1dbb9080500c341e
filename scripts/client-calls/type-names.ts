import * as z from "zod";
import {
  agentDefinitionSchema,
  budgetSchema,
  modelCompatSchema,
} from "../../src/runtime/protocol/agent-definition.ts";
import { contentPartSchema } from "../../src/runtime/protocol/content.ts";
import { durablePayloads } from "../../src/runtime/protocol/durable-events.ts";
import type { DurableType } from "../../src/runtime/protocol/durable-events.ts";
import { durableSchema } from "../../src/runtime/protocol/events.ts";
import {
  answerBodySchema,
  compactBodySchema,
  decisionBodySchema,
  interruptBodySchema,
  interruptReceiptSchema,
  promptBodySchema,
  promptReceiptSchema,
  restoreBodySchema,
  sessionStateSchema,
} from "../../src/runtime/protocol/frames.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";
import { policyDefinitionSchema } from "../../src/runtime/protocol/policy-definition.ts";
import { principalSchema } from "../../src/runtime/protocol/principal.ts";
import { roleSchema, scopeSchema } from "../../src/runtime/protocol/role.ts";
import { usageSchema } from "../../src/runtime/protocol/usage.ts";
import { fieldsText, typeText } from "./type-text.ts";
import type { Direction, JsonSchema } from "./type-text.ts";

const durable = (type: DurableType): [string, z.ZodType] => [`DurableEvent<"${type}">`, durableSchema(type)];
const TYPES = Object.keys(durablePayloads) as DurableType[];

/** Types of the protocol, which client and server share, by the file that they stand in. */
const PROTOCOL: Readonly<Record<string, readonly (readonly [name: string, schema: z.ZodType])[]>> = {
  "agent-definition": [
    ["AgentDefinition", agentDefinitionSchema],
    ["Budget", budgetSchema],
    ["ModelCompat", modelCompatSchema],
  ],
  content: [["ContentPart", contentPartSchema]],
  "durable-events": [["DurableEvent", z.union(TYPES.map(durableSchema))], ...TYPES.map(durable)],
  frames: [
    ["AnswerBody", answerBodySchema],
    ["CompactBody", compactBodySchema],
    ["DecisionBody", decisionBodySchema],
    ["InterruptBody", interruptBodySchema],
    ["InterruptReceipt", interruptReceiptSchema],
    ["PromptBody", promptBodySchema],
    ["PromptReceipt", promptReceiptSchema],
    ["RestoreBody", restoreBodySchema],
    ["SessionState", sessionStateSchema],
  ],
  limits: [
    [
      "Partial<Limits>",
      z.strictObject(
        Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, z.int().exactOptional()])),
      ),
    ],
  ],
  "policy-definition": [["PolicyDefinition", policyDefinitionSchema]],
  principal: [["Principal", principalSchema]],
  role: [
    ["Role", roleSchema],
    ["Scope", scopeSchema],
  ],
  usage: [["Usage", usageSchema]],
};

interface Named {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly direction: Direction;
}

const plain = (schema: JsonSchema, direction: Direction): string =>
  typeText(schema, direction, () => undefined);

/** Gives types their names: what is one type written out has one name, whatever else its schemas demand. */
export class TypeNames {
  /** Names by the type written out. */
  readonly #names = new Map<string, string>();
  readonly #own: Named[] = [];

  constructor() {
    for (const [name, schema] of Object.values(PROTOCOL).flat()) {
      this.#names.set(plain(jsonSchema(schema, "input"), "given"), name);
      this.#names.set(plain(jsonSchema(schema, "output"), "answered"), name);
    }
  }

  /**
   * Declares a type, unless the protocol has it. Two that look alike may have two names: the first is used where
   * nothing is said.
   * @throws Error for a name of two types
   */
  add(name: string, schema: JsonSchema, direction: Direction): void {
    const text = plain(schema, direction);
    const known = this.#own.find((other) => other.name === name);
    if (known && plain(known.schema, known.direction) !== text)
      throw new Error(`${name} would be two types.`);
    if (!known) this.#own.push({ name, schema, direction });
    if (!this.#names.has(text)) this.#names.set(text, name);
  }

  /** The name of a type, if it has one. */
  nameOf(schema: JsonSchema, direction: Direction): string | undefined {
    return this.#names.get(plain(schema, direction));
  }

  text(schema: JsonSchema, direction: Direction): string {
    return typeText(schema, direction, (part) => this.nameOf(part, direction));
  }

  /** An interface or a type for each name that was added, in that order. */
  declarations(): string[] {
    return this.#own.map((named) => this.#declaration(named));
  }

  #declaration(named: Named): string {
    const { name, schema, direction } = named;
    const nameOf = (part: JsonSchema): string | undefined =>
      part === schema ? undefined : this.nameOf(part, direction);
    if (schema.type !== "object" || !schema.properties) {
      return `export type ${name} = ${typeText(schema, direction, nameOf)};`;
    }
    const base = this.#baseOf(named);
    const properties = Object.entries(schema.properties).filter(([field]) => !base?.fields.has(field));
    const own = { ...schema, properties: Object.fromEntries(properties) };
    const body = fieldsText(own, direction, nameOf);
    return `export interface ${name}${base ? ` extends ${base.name}` : ""} ${body}`;
  }

  /** The type of a kindred name with the most fields, all of which the schema has alike, beside others. */
  #baseOf({ name, schema, direction }: Named): { name: string; fields: Set<string> } | undefined {
    const bases = [...this.#own, AGENT].filter(
      (other) =>
        (other === AGENT || other.direction === direction) &&
        sharesWord(other.name, name) &&
        isPartOf(other.schema, schema),
    );
    const [base] = bases.toSorted(
      (left, right) => fieldsOf(right.schema).length - fieldsOf(left.schema).length,
    );
    if (!base) return undefined;
    return { name: base.name, fields: new Set(fieldsOf(base.schema)) };
  }
}

/** The one type of the protocol that others extend. */
const AGENT: Named = {
  name: "AgentDefinition",
  schema: jsonSchema(agentDefinitionSchema, "input"),
  direction: "given",
};

function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" }) as JsonSchema;
}

/** The import statements that a text needs for the protocol's types in it. */
export function protocolImports(text: string): string[] {
  return Object.entries(PROTOCOL).flatMap(([file, types]) => {
    const names = types.map(([name]) => name.replace(/<".*/, "").replace(/.*<(\w+)>$/, "$1"));
    const used = [...new Set(names)].filter((name) => new RegExp(`\\b${name}\\b`).test(text));
    if (used.length === 0) return [];
    return [`import type { ${used.toSorted().join(", ")} } from "../src/runtime/protocol/${file}.ts";`];
  });
}

function fieldsOf({ properties = {} }: JsonSchema): string[] {
  return Object.keys(properties);
}

function sharesWord(left: string, right: string): boolean {
  const words = new Set(left.match(/[A-Z][a-z]+/g));
  return (right.match(/[A-Z][a-z]+/g) ?? []).some((word) => words.has(word));
}

function isPartOf(part: JsonSchema, whole: JsonSchema): boolean {
  const fields = fieldsOf(part);
  return (
    fields.length > 0 &&
    fields.length < fieldsOf(whole).length &&
    fields.every((field) => {
      const [left = {}, right] = [part.properties?.[field], whole.properties?.[field]];
      const alike = (part.required ?? []).includes(field) === (whole.required ?? []).includes(field);
      return right !== undefined && alike && plain(left, "answered") === plain(right, "answered");
    })
  );
}
