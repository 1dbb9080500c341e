import { createDemoProvider } from "../../../src/runtime/model/demo/demo-provider.ts";
import type { ReplyCall } from "../../../src/runtime/model/model-provider.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import type { ModelMessage } from "../../../src/runtime/protocol/model-messages.ts";
import { textContent } from "../../../src/runtime/protocol/content.ts";
import { ToolRegistry } from "../../../src/runtime/tool/tool-registry.ts";
import { MemoryWorkspaceSource } from "../../../src/runtime/workspace/memory-workspace.ts";
import type { Workspace } from "../../../src/runtime/workspace/workspace.ts";
import { createBuiltinTools } from "../../../src/tools/builtin-tools.ts";
import type { WorkspaceToolContext } from "../../../src/tools/workspace-tool-context.ts";
import { readStream } from "./streamed.ts";

/** More steps than any task of the demo takes. */
const MAX_STEPS = 8;

/** The demo model with the real tools on a workspace in memory. */
export class DemoSession {
  readonly workspace: Workspace;
  readonly messages: ModelMessage[] = [];
  readonly #registry: ToolRegistry<WorkspaceToolContext>;

  constructor(workspace: Workspace, tools?: readonly string[]) {
    this.workspace = workspace;
    const registry = new ToolRegistry<WorkspaceToolContext>((call) => ({
      call,
      signal: call.signal,
      workspace,
      progress: () => undefined,
      emit: () => undefined,
    }));
    for (const tool of createBuiltinTools()) registry.register(tool);
    this.#registry = tools ? registry.select(tools) : registry;
  }

  static async on(files: Readonly<Record<string, string>>, tools?: readonly string[]): Promise<DemoSession> {
    const workspace = new MemoryWorkspaceSource({ clock: () => 0 }).open({
      writer: { by: { kind: "user", id: "u" } },
    });
    const changes = Object.entries(files).map(([path, text]) => {
      return { kind: "write", path, bytes: new TextEncoder().encode(text) } as const;
    });
    if (changes.length > 0) await workspace.change(changes);
    return new DemoSession(workspace, tools);
  }

  /** Asks, runs what the model calls, and gives its calls and its last text. */
  async ask(text: string): Promise<{ answer: string; calls: ReplyCall[] }> {
    this.messages.push({ role: "user", content: textContent(text) });
    const calls: ReplyCall[] = [];
    for (let step = 0; step < MAX_STEPS; step++) {
      const request = { system: "", messages: this.messages, tools: this.#registry.getTools() };
      const { reply } = await readStream(
        streamOf(createDemoProvider(), request, new AbortController().signal),
      );
      const asked = (reply?.calls ?? []).map((call, index) => ({
        ...call,
        id: `call_${calls.length + index}`,
      }));
      this.messages.push({ role: "assistant", blocks: reply?.blocks ?? [], calls: asked });
      if (asked.length === 0) return { answer: reply?.blocks[0]?.text ?? "", calls };
      for (const call of asked) await this.#run(call);
      calls.push(...asked);
    }
    throw new Error("the demo does not come to an end");
  }

  async #run(call: { id: string; name: string; args: Readonly<Record<string, unknown>> }): Promise<void> {
    const { signal } = new AbortController();
    const site = { id: call.id, name: call.name, turn: 1, step: 1, signal };
    const result = await this.#registry.get(call.name)?.execute(call.args, site);
    if (!result) throw new Error(`the demo called ${call.name}, which does not exist`);
    const { content, isError = false } = result;
    this.messages.push({ role: "tool", callId: call.id, name: call.name, content, isError });
  }
}
