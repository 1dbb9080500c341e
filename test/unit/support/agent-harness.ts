import * as z from "zod";
import { acceptPrompt } from "../../../src/runtime/agent/accept-prompt.ts";
import { Agent } from "../../../src/runtime/agent/agent.ts";
import type { AgentOptions } from "../../../src/runtime/agent/agent-options.ts";
import { createScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import type { Script, ScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { isDurable } from "../../../src/runtime/protocol/events.ts";
import type { AgentEvent, EventType } from "../../../src/runtime/protocol/events.ts";
import type { PromptBody, PromptReceipt } from "../../../src/runtime/protocol/frames.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import type { Principal } from "../../../src/runtime/protocol/principal.ts";
import { checkStream } from "../../../src/runtime/protocol/stream-grammar.ts";
import { MemorySession } from "../../../src/runtime/session/memory-session.ts";
import type { Tool, ToolResult } from "../../../src/runtime/tool/tool.ts";
import { FakeTime, settled } from "./fake-time.ts";

export const ALICE: Principal = { kind: "user", id: "alice" };

/** An agent under a test's control: scripted model, fake time, everything that is told recorded. */
export class Harness {
  readonly time = new FakeTime();
  readonly session: MemorySession;
  readonly model: ScriptedProvider;
  readonly agent: Agent;
  readonly told: AgentEvent[] = [];

  constructor(script: Script, options: Partial<AgentOptions> & { session?: MemorySession } = {}) {
    this.session = options.session ?? new MemorySession("s");
    this.model = createScriptedProvider(script, { timers: this.time });
    const { clock } = this.time;
    this.agent = new Agent({
      model: this.model,
      clock,
      timers: this.time,
      random: () => 0,
      ...options,
      session: this.session,
    });
    this.agent.on((event) => this.told.push(event));
    void this.agent.loadSession();
  }

  async submit(prompt: string | PromptBody, by: Principal = ALICE): Promise<PromptReceipt> {
    const body = typeof prompt === "string" ? { text: prompt } : prompt;
    const accepted = await acceptPrompt(body, by, () => `p${this.#prompts++}`, DEFAULT_LIMITS);
    return this.agent.submit(accepted);
  }

  #prompts = 1;

  /** Submits and lets everything happen that needs no time. */
  async start(prompt: string | PromptBody): Promise<PromptReceipt> {
    const receipt = await this.submit(prompt);
    await settled();
    return receipt;
  }

  /** Lets everything happen, retries and waits included. */
  async finish(ms = 60_000): Promise<void> {
    let done = false;
    void this.agent.settled().then(() => (done = true));
    await this.time.pass(ms);
    // Hashing takes real time, and what comes after it may need fake time again.
    await this.waitFor(async () => {
      if (!done) await this.time.pass(1);
      return done;
    });
    await settled();
  }

  /** Waits until something holds that needs no fake time but real work (a hash). */
  async waitFor(holds: () => boolean | Promise<boolean>): Promise<void> {
    // Real work takes as long as the machine does.
    const until = performance.now() + 20_000;
    while (performance.now() < until) {
      if (await holds()) return;
      await settled();
    }
    throw new Error(`still waiting; the log is ${this.types.join(" ")}`);
  }

  /** Waits until the turn waits for a person. */
  async asked(): Promise<void> {
    await this.waitFor(() => this.agent.getState().status === "waiting");
    await settled();
  }

  get log(): readonly DurableEvent[] {
    return this.session.read(0);
  }

  /** The log's types, without turn and step. */
  get types(): EventType[] {
    return this.log.map(({ type }) => type);
  }

  all<T extends EventType>(type: T): Extract<AgentEvent, { type: T }>[] {
    return this.told.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
  }

  last<T extends EventType>(type: T): Extract<AgentEvent, { type: T }> {
    const found = this.all(type).at(-1);
    if (!found) throw new Error(`no ${type} was told`);
    return found;
  }

  /** What the two grammar checkers say of the log and of what was told; both must be empty in every test. */
  violations(): unknown[] {
    const durable = this.told.filter(isDurable);
    const missed = durable.length === 0 ? [] : this.log.filter(({ seq }) => seq < (durable[0]?.seq ?? 0));
    const told = [...missed, ...durable].length === this.log.length ? [] : ["told events and log differ"];
    return [...checkLog(this.log), ...checkStream(this.told), ...told];
  }
}

/** A tool that counts its runs and answers with its text. */
export function echoTool(
  options: Partial<Tool> & { run?: (text: string, runs: number) => Promise<ToolResult> | ToolResult } = {},
) {
  const runs: string[] = [];
  const { run, ...rest } = options;
  const tool: Tool = {
    name: "echo",
    description: "Answers with its text.",
    schema: z.object({ text: z.string() }),
    execute: async (args) => {
      const text = String(args["text"]);
      runs.push(text);
      return run ? run(text, runs.length) : { content: text };
    },
    ...rest,
  };
  return { tool, runs };
}

/** A promise that a test resolves. */
export function gate<T = void>(): { opened: Promise<T>; open: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}
