import type { ToolSpec } from "../../protocol/tool-spec.ts";
import { isObject } from "../json-value.ts";

/** What the demo does next: it says something, and goes on with a call or is done. */
export interface Step {
  readonly say: string;
  readonly call?: { readonly name: string; readonly args: Readonly<Record<string, unknown>> };
}

/** The tools that the agent has, as far as the request says. */
export class Toolbox {
  readonly #specs: ReadonlyMap<string, ToolSpec>;

  constructor(specs: readonly ToolSpec[]) {
    this.#specs = new Map(specs.map((spec) => [spec.name, spec]));
  }

  has(name: string): boolean {
    return this.#specs.has(name);
  }

  /** A word about a tool that the agent does not have. */
  missing(name: string): Step {
    return { say: `For this I would need the tool \`${name}\`, which this agent does not have.` };
  }

  /** A call with those of the arguments that the tool declares; without the tool, a word about that. */
  call(name: string, args: Readonly<Record<string, unknown>>, intent: string, say: string): Step {
    const spec = this.#specs.get(name);
    if (!spec) return this.missing(name);
    const { properties } = spec.schema;
    const declared = isObject(properties) ? Object.keys(properties) : [];
    const known = Object.entries({ _intent: intent, ...args }).filter(([field]) => declared.includes(field));
    return { say, call: { name, args: Object.fromEntries(known) } };
  }
}
