/** A tool as a model sees it: a name, what it does, and the JSON Schema of its arguments. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly schema: { readonly type: "object" } & Readonly<Record<string, unknown>>;
}
