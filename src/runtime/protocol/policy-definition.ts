import * as z from "zod";
import { idSchema } from "./ids.ts";

/** Bounds of a policy: it is checked at each tool call, and stored with each version of its agent. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_RULES = 200;
const MAX_GLOBS = 200;
const MAX_VALUES = 200;
const MAX_FIELDS = 20;

/** What a policy says of a call: run it, ask a person first, or refuse it. */
const effectSchema = z.enum(["allow", "ask", "deny"]);
export type Effect = z.infer<typeof effectSchema>;

/** Tool names, with `*` for any characters. Anything else could match no tool, and would silently guard nothing. */
const toolGlob = z
  .string()
  .regex(/^[A-Za-z0-9_*-]{1,64}$/, "a tool's glob is 1 to 64 letters, digits, `_`, `-` or `*`");
const toolGlobs = z.array(toolGlob).max(MAX_GLOBS);

/** Where in the arguments a condition looks: names of fields and indexes of arrays, joined by dots. */
const dotPath = z
  .string()
  .max(200)
  .regex(/^[^.]+(?:\.[^.]+){0,15}$/, "a field is named by up to 16 names joined by dots");

const text = z.string().min(1).max(1024);
const scalar = z.union([z.string().max(1024), z.number(), z.boolean()], {
  error: "expected a string, a number or a boolean",
});

const operators = {
  equals: scalar.optional(),
  in: z.array(scalar).min(1).max(MAX_VALUES).optional(),
  startsWith: text.optional(),
  contains: text.optional(),
  /** A path with `*`, `?` and `**`. */
  glob: z.string().min(1).max(256).optional(),
  /** RE2 syntax; matches anywhere in the text. */
  regex: text.optional(),
};

const SOME_OPERATOR = "needs one of equals, in, startsWith, contains, glob, regex and not";

/** One level of `not` only: a second would take back the first. */
const plainConditionSchema = z.strictObject(operators).refine(isNotEmpty, SOME_OPERATOR);
const negatableSchema = z
  .strictObject({
    ...operators,
    not: z.union([scalar, plainConditionSchema], { error: "expected a value or operators" }).optional(),
  })
  .refine(isNotEmpty, SOME_OPERATOR);

/** What the value of a field has to be: equal to a scalar, or all that its operators say. */
const conditionSchema = z.union([scalar, negatableSchema], {
  error: "expected a value, or an object of operators (equals, in, startsWith, contains, glob, regex, not)",
});
export type Condition = Immutable<z.infer<typeof conditionSchema>>;

/** Applies to a call when all that it names does. One that names neither tools nor fields applies to every call. */
const ruleSchema = z.strictObject({
  /** Named in decisions; `rule-<n>` without it, counted from 1. */
  id: idSchema.optional(),
  /** Told to the model and to people as the reason. */
  description: z.string().min(1).max(500).optional(),
  tool: z
    .union([toolGlob, toolGlobs.min(1)], { error: "expected a tool's glob or a list of them" })
    .optional(),
  when: z
    .record(dotPath, conditionSchema)
    .refine(isNotEmpty, "names no field")
    .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, `names more than ${MAX_FIELDS} fields`)
    .optional(),
  effect: effectSchema,
});
export type Rule = Immutable<z.infer<typeof ruleSchema>>;

/** A permission policy as a tenant writes it: plain JSON, so that it can be stored, compared and shown. */
export const policyDefinitionSchema = z
  .strictObject({
    /** For a call to which no rule applies. @default "allow" */
    default: effectSchema.optional(),
    allow: toolGlobs.optional(),
    ask: toolGlobs.optional(),
    deny: toolGlobs.optional(),
    rules: z.array(ruleSchema).max(MAX_RULES).optional(),
    /** Records what the policy says and runs every call all the same. @default false */
    dryRun: z.boolean().optional(),
  })
  .refine((policy) => JSON.stringify(policy).length <= MAX_CHARACTERS, {
    error: `a policy has at most ${MAX_CHARACTERS} characters of JSON`,
  });
export type PolicyDefinition = Immutable<z.infer<typeof policyDefinitionSchema>>;

/** Policies are literals as often as parsed JSON, and nobody changes one. */
type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

function isNotEmpty(value: object): boolean {
  return Object.keys(value).length > 0;
}
