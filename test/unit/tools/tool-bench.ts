import { readPast, searchPast } from "../../../src/runtime/context/past.ts";
import type { Past } from "../../../src/runtime/context/past.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { SYSTEM } from "../../../src/runtime/protocol/principal.ts";
import type { ToolResult } from "../../../src/runtime/tool/tool.ts";
import { ToolRegistry } from "../../../src/runtime/tool/tool-registry.ts";
import type { ToolCallSite } from "../../../src/runtime/tool/tool-registry.ts";
import { MemoryWorkspaceSource } from "../../../src/runtime/workspace/memory-workspace.ts";
import type { Workspace } from "../../../src/runtime/workspace/workspace.ts";
import { createBashTool } from "../../../src/tools/bash/bash.ts";
import { createBuiltinTools } from "../../../src/tools/builtin-tools.ts";
import type { WorkspaceToolContext } from "../../../src/tools/workspace-tool-context.ts";
import { createRecallIndexedTool } from "../../../src/tools/recall-indexed.ts";
import { write } from "../../conformance/workspace-steps.ts";

/** What has gone out of a conversation: all of this. */
const LOG = [
  { type: "input", content: [{ type: "text", text: "Which port does the database listen on?" }] },
  { type: "tool_result", callId: "call_1_1_0", name: "read_file", content: "port: 5432\n", isError: false },
  { type: "output", text: "The database listens on port 5432." },
].map((event, index) => ({ seq: index + 1, at: 1, turn: 1, step: 1, ...event }) as DurableEvent);

const PAST: Past = {
  find: async (query, limit) =>
    searchPast(
      () => LOG,
      query,
      limit,
      () => true,
    ),
  async read(id, from) {
    const entry = readPast(() => LOG, id);
    if (!entry) return null;
    const { what, turn, text } = entry;
    return { what, turn, text: text.slice(from), from, to: text.length, size: text.length };
  },
};

/** The built-in tools over a workspace in memory, called as a model would call them. */
export class ToolBench {
  readonly source = new MemoryWorkspaceSource();
  readonly registry: ToolRegistry<WorkspaceToolContext & { readonly past: Past }>;
  #calls = 0;

  /** @param overrides Methods of a call's workspace that do something else. */
  constructor(overrides: (workspace: Workspace) => Partial<Workspace> = () => ({})) {
    this.registry = new ToolRegistry(({ id, name, turn, step, signal }) => ({
      signal,
      call: { id, name, turn, step },
      workspace: this.#open(turn, id, overrides),
      past: PAST,
      progress() {},
      emit() {},
    }));
    for (const tool of [...createBuiltinTools(), createRecallIndexedTool(), createBashTool()])
      this.registry.register(tool);
  }

  static async with(files: Readonly<Record<string, string>>): Promise<ToolBench> {
    const bench = new ToolBench();
    if (Object.keys(files).length > 0) await write(bench.workspace, files);
    return bench;
  }

  #open(turn: number, callId: string, overrides: (workspace: Workspace) => Partial<Workspace>): Workspace {
    const opened = this.source.open({
      writer: { by: SYSTEM, source: { session: "s", turn, wakes: 0, callId } },
    });
    return {
      version: () => opened.version(),
      stat: (path) => opened.stat(path),
      list: (path, options) => opened.list(path, options),
      read: (path, range) => opened.read(path, range),
      change: (changes) => opened.change(changes),
      search: (query) => opened.search(query),
      outcome: (id) => opened.outcome(id),
      ...overrides(opened),
    };
  }

  /** As somebody else sees it. */
  get workspace(): Workspace {
    return this.source.open({ writer: { by: SYSTEM } });
  }

  async run(name: string, args: Record<string, unknown>): Promise<ToolResult> {
    const tool = this.registry.get(name);
    if (!tool) throw new Error(`no tool ${name}`);
    return tool.execute({ _intent: "a test", ...args }, this.site(name));
  }

  site(name: string): ToolCallSite {
    this.#calls += 1;
    return { id: `c${this.#calls}`, name, turn: 1, step: 1, signal: new AbortController().signal };
  }

  async lines(name: string, args: Record<string, unknown>): Promise<string[]> {
    return (await this.run(name, args)).content.split("\n");
  }
}

/** The lines below `[label]`, up to the next label. */
export function blockOf(content: string, label: string): string[] {
  const lines = content.split("\n");
  const rest = lines.slice(lines.indexOf(`[${label}]`) + 1);
  const end = rest.findIndex((line) => /^\[[a-z_]+\]/.test(line));
  return end < 0 ? rest : rest.slice(0, end);
}

/** What stands behind `[label]`. */
export function fieldOf(content: string, label: string): string | undefined {
  return content
    .split("\n")
    .find((line) => line.startsWith(`[${label}] `))
    ?.slice(label.length + 3);
}
