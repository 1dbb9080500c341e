import { expect, it } from "vitest";
import * as z from "zod";
import { intentOf } from "../../../src/runtime/tool/intent.ts";
import { defineTool } from "../../../src/runtime/tool/tool.ts";
import type { Tool, ToolContext } from "../../../src/runtime/tool/tool.ts";
import { ToolRegistry } from "../../../src/runtime/tool/tool-registry.ts";
import type { ToolCallSite } from "../../../src/runtime/tool/tool-registry.ts";

interface NamedContext extends ToolContext {
  readonly from: string;
}

const site: ToolCallSite = { id: "c1", name: "echo", turn: 1, step: 2, signal: new AbortController().signal };

function newRegistry(calls: ToolCallSite[] = []): ToolRegistry<NamedContext> {
  return new ToolRegistry((call) => {
    calls.push(call);
    const { id, name, turn, step, signal } = call;
    return { signal, call: { id, name, turn, step }, from: `context of ${id}`, progress() {}, emit() {} };
  });
}

const echo = defineTool({
  name: "echo",
  description: "Says what it is told.",
  schema: z.object({ text: z.string(), times: z.int().min(1).default(1) }),
  execute: ({ text, times }) => ({ content: text.repeat(times) }),
});

/** A tool with some schema that takes whatever fits it. */
function silent<Schema extends z.ZodObject>(name: string, schema: Schema): Tool<Schema> {
  return { name, description: "Says nothing.", schema, execute: () => ({ content: "" }) };
}

/** A shape with a field of its own by that name, which a literal could not have. */
function shapeWith(field: string): z.ZodRawShape {
  return Object.defineProperty({}, field, { value: z.string(), enumerable: true });
}

/** A tool that is right but for what the overrides say, as untyped code may define it. */
function register(overrides: Record<string, unknown>): () => void {
  return () => newRegistry().register({ ...echo, ...overrides });
}

it.each([
  ["no name", { name: "" }],
  ["a name with a blank", { name: "a b" }],
  ["a name of 65 characters", { name: "x".repeat(65) }],
  ["a name that is no string", { name: 7 }],
  ["a blank description", { description: " \n" }],
  ["no description", { description: undefined }],
  ["a schema that is no object", { schema: z.string() }],
  ["a JSON Schema", { schema: { type: "object" } }],
  ["a field _intent", { schema: z.object({ _intent: z.string() }) }],
  ["a field constructor", { schema: z.object({ constructor: z.string() }) }],
  ["a field __proto__", { schema: z.object(shapeWith("__proto__")) }],
  ["a schema without a JSON Schema", { schema: z.object({ at: z.date() }) }],
])("[TOOL-1] refuses to register a tool with %s", (_what, overrides) => {
  expect(register(overrides)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

it("[TOOL-1] refuses a name that is taken, until it is removed, and a schema that refers to itself", () => {
  const registry = newRegistry();
  registry.register(echo);
  expect(() => registry.register(echo)).toThrow(/already/);
  expect([registry.remove("echo"), registry.remove("echo")]).toEqual([true, false]);
  registry.register(echo);
  const node = z.object({
    get child() {
      return node.optional();
    },
  });
  expect(register({ schema: node })).toThrow(/refers to itself/);
});

it("[TOOL-2] shows a model the input schema with a required intent first", () => {
  const registry = newRegistry();
  registry.register(echo);
  registry.register(silent("none", z.object({})));
  const [first, second] = registry.getTools();
  expect(first).toEqual({
    name: "echo",
    description: "Says what it is told.",
    schema: {
      type: "object",
      properties: {
        _intent: { type: "string", description: expect.stringContaining("short reason") },
        text: { type: "string" },
        times: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 },
      },
      required: ["_intent", "text"],
    },
  });
  expect(Object.keys((first?.schema.properties ?? {}) as object)[0]).toBe("_intent");
  expect(second?.schema).toMatchObject({ required: ["_intent"] });
});

it("[TOOL-3] runs a tool with what its schema makes of the arguments, without the intent", async () => {
  const calls: ToolCallSite[] = [];
  const registry = newRegistry(calls);
  const seen: unknown[] = [];
  registry.register(echo);
  registry.register({
    name: "see",
    description: "Keeps what it gets.",
    schema: z.strictObject({ a: z.coerce.number() }),
    execute: (args, context) => {
      seen.push(args, context.from, context.call);
      return { content: "" };
    },
  });
  expect(calls).toEqual([]);
  expect(await registry.get("echo")?.execute({ _intent: "why", text: "ab", extra: 1 }, site)).toEqual({
    content: "ab",
  });
  await registry.get("see")?.execute({ a: "7", _intent: "why" }, { ...site, id: "c2" });
  expect(seen).toEqual([{ a: 7 }, "context of c2", { id: "c2", name: "echo", turn: 1, step: 2 }]);
  expect(calls).toHaveLength(2);
});

it("[TOOL-4] answers wrong arguments with what is wrong, and does not run", async () => {
  const calls: ToolCallSite[] = [];
  const registry = newRegistry(calls);
  registry.register({
    ...echo,
    schema: echo.schema.extend({ list: z.array(z.object({ old: z.string() })).optional() }),
  });
  const result = await registry.get("echo")?.execute({ times: 0, list: [{ old: "a" }, {}] }, site);
  expect(result).toMatchObject({ isError: true, code: "invalid_arguments" });
  expect(result?.content.split("\n")).toEqual([
    "[what] The arguments do not fit the tool's schema; the tool did not run.",
    "[tool] echo",
    "[issues]",
    expect.stringMatching(/^- text: .*string/),
    expect.stringMatching(/^- times: /),
    expect.stringMatching(/^- list\.1\.old: /),
    "[how] Call the tool again with arguments that fit its schema.",
  ]);
  expect(calls).toEqual([]);
});

it("[TOOL-4] never throws for arguments, whatever they are", async () => {
  const registry = newRegistry();
  const throwing = z.object({ a: z.string().optional() }).refine(() => {
    throw new Error("a bug in a check");
  });
  registry.register(silent("throws", throwing));
  registry.register(
    silent(
      "strict",
      z.strictObject({ a: z.string() }).refine(() => false, "not so"),
    ),
  );
  const fields = Array.from({ length: 900 }, (_, index) => [`f${index}`, z.string()] as const);
  registry.register(silent("many", z.object(Object.fromEntries(fields))));
  const strange = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "toString": 2}') as Record<
    string,
    unknown
  >;
  for (const name of ["throws", "strict", "many"]) {
    for (const args of [{}, strange, [], null, "text", 7] as Record<string, unknown>[]) {
      const result = await registry.get(name)?.execute(args, site);
      expect(result).toMatchObject({ isError: true, code: "invalid_arguments" });
      expect(result?.content.length).toBeLessThan(8_000);
    }
  }
  expect((await registry.get("strict")?.execute({ a: "x" }, site))?.content).toContain("- <root>: not so");
  expect((await registry.get("many")?.execute({}, site))?.content).toContain("- and 880 more");
});

it("[TOOL-5] lets what a tool throws through to the loop", async () => {
  const registry = newRegistry();
  registry.register({
    ...echo,
    execute: () => {
      throw new Error("the tool's own");
    },
  });
  await expect(registry.get("echo")?.execute({ text: "x" }, site)).rejects.toThrow("the tool's own");
});

it("[TOOL-6] finds tools by their own names only", () => {
  const registry = newRegistry();
  registry.register({ ...echo, name: "toString" });
  expect(registry.get("toString")?.description).toBe(echo.description);
  for (const name of ["echo", "__proto__", "constructor", "hasOwnProperty", ""])
    expect(registry.get(name)).toBeUndefined();
  expect(registry.remove("constructor")).toBe(false);
});

it("[TOOL-6] selects tools by name, in that order, and names one that is unknown", async () => {
  const registry = newRegistry();
  for (const name of ["a", "b", "c"]) registry.register({ ...echo, name });
  const selected = registry.select(["c", "a"]);
  expect(selected.getTools().map(({ name }) => name)).toEqual(["c", "a"]);
  expect(selected.get("b")).toBeUndefined();
  expect(await selected.get("a")?.execute({ text: "x" }, site)).toEqual({ content: "x" });
  expect(() => registry.select(["a", "x"])).toThrow(
    expect.objectContaining({ code: "invalid_request", message: expect.stringContaining(" x") }),
  );
  expect(registry.getTools()).toHaveLength(3);
});

it("[TOOL-7] takes a tool that says nothing for one that changes things and may not run twice", async () => {
  const registry = newRegistry();
  registry.register(echo);
  registry.register({ ...echo, name: "reads", readOnly: true, timeoutMs: 5 });
  registry.register({ ...echo, name: "once", readOnly: true, idempotent: false, parallel: false });
  registry.register({ ...echo, name: "finds", findOutcome: async ({ from }) => ({ content: from }) });
  const facts = ["echo", "reads", "once"].map((name) => {
    const tool = registry.get(name);
    return [tool?.readOnly, tool?.idempotent, tool?.parallel, tool?.timeoutMs, tool?.findOutcome];
  });
  expect(facts).toEqual([
    [false, false, true, undefined, undefined],
    [true, true, true, 5, undefined],
    [true, false, false, undefined, undefined],
  ]);
  expect(await registry.get("finds")?.findOutcome?.(site)).toEqual({ content: "context of c1" });
});

it("[TOOL-2] reads the intent where a model gave one", () => {
  const own = JSON.parse('{"__proto__": {"_intent": "inherited"}}') as Record<string, unknown>;
  const values = [
    { _intent: " to see " },
    { _intent: "" },
    { _intent: 7 },
    {},
    own,
    Object.create({ _intent: "inherited" }),
  ];
  expect(values.map((args) => intentOf(args as Record<string, unknown>))).toEqual([
    "to see",
    ...Array(5).fill(undefined),
  ]);
});
