import type * as z from "zod";
import { LightAgentError } from "../protocol/errors.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import { withoutIntent } from "./intent.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";
import { checkArguments, checkNow } from "./tool-arguments.ts";
import { toToolSpec } from "./tool-schema.ts";

/** The call for which a tool's context is made. */
export interface ToolCallSite {
  readonly id: string;
  readonly name: string;
  readonly turn: number;
  readonly step: number;
  /** Aborts when the turn is stopped or the call's time is over. */
  readonly signal: AbortSignal;
}

/** A tool as the loop runs it: every default settled, arguments checked, the context made when the call begins. */
export interface RegisteredTool {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly parallel: boolean;
  /** In ms; undefined where the tool is content with the limit `toolMs`. */
  readonly timeoutMs: number | undefined;
  /**
   * Takes the arguments as the model gave them, with or without `_intent`. What does not fit the schema is an error
   * result; what the tool throws is thrown.
   */
  execute(args: Readonly<Record<string, unknown>>, call: ToolCallSite): Promise<ToolResult>;
  /** For a tool that asks a person: what is wrong with the arguments for its model to read, or null. */
  readonly checkQuestion?: (args: Readonly<Record<string, unknown>>) => string | null;
  /** See {@link Tool.findOutcome}; undefined where the tool has none. */
  readonly findOutcome: ((call: ToolCallSite) => Promise<ToolResult | null>) | undefined;
}

/** The tools of one agent by name, in the order in which they were registered. */
export class ToolRegistry<Context extends ToolContext> {
  readonly #pullToolContext: (call: ToolCallSite) => Context;
  readonly #tools = new Map<string, { readonly tool: RegisteredTool; readonly spec: ToolSpec }>();

  /** @param pullToolContext Makes the context of one call, at the moment when it begins. */
  constructor(pullToolContext: (call: ToolCallSite) => Context) {
    this.#pullToolContext = pullToolContext;
  }

  /** @throws LightAgentError `invalid_request` when something is wrong with the definition or the name is taken */
  register<Schema extends z.ZodObject>(tool: Tool<Schema, Context>): void {
    const spec = toToolSpec(tool);
    if (this.#tools.has(spec.name)) {
      throw new LightAgentError("invalid_request", `Cannot register: there is a tool ${spec.name} already.`);
    }
    this.#tools.set(spec.name, { tool: this.#wrap(tool), spec });
  }

  /** Whether there was a tool of that name. */
  remove(name: string): boolean {
    return this.#tools.delete(name);
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** What a model is told of the tools. */
  getTools(): ToolSpec[] {
    return [...this.#tools.values()].map(({ spec }) => spec);
  }

  /**
   * A registry with these tools alone, in the order of the names.
   * @throws LightAgentError `invalid_request` for a name that is not registered
   */
  select(names: readonly string[]): ToolRegistry<Context> {
    const selected = new ToolRegistry<Context>(this.#pullToolContext);
    for (const name of names) {
      const known = this.#tools.get(name);
      if (!known) throw new LightAgentError("invalid_request", `There is no tool ${name}.`, { tool: name });
      selected.#tools.set(name, known);
    }
    return selected;
  }

  #wrap<Schema extends z.ZodObject>(tool: Tool<Schema, Context>): RegisteredTool {
    const { name, description, schema, readOnly = false } = tool;
    const { idempotent = readOnly, parallel = true, timeoutMs } = tool;
    return {
      name,
      description,
      schema,
      readOnly,
      idempotent,
      parallel,
      timeoutMs,
      ...(tool.asksPerson === true
        ? { checkQuestion: (args: Readonly<Record<string, unknown>>) => checkNow(name, schema, args) }
        : {}),
      execute: async (args, call) => {
        const checked = await checkArguments(name, schema, withoutIntent(args));
        return checked.ok ? tool.execute(checked.args, this.#pullToolContext(call)) : checked.result;
      },
      findOutcome: tool.findOutcome
        ? async (call) => (await tool.findOutcome?.(this.#pullToolContext(call))) ?? null
        : undefined,
    };
  }
}
