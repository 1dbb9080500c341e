import * as z from "zod";
import type { AgentToolContext } from "../../src/runtime/agent/agent-tool-context.ts";
import { sleep } from "../../src/runtime/model/sleep.ts";
import { systemTimers } from "../../src/runtime/protocol/time.ts";
import type { Tool, ToolResult } from "../../src/runtime/tool/tool.ts";
import { createAskUserTool } from "../../src/tools/ask-user.ts";
import { lifeNow } from "./life.ts";
import type { World } from "./world.ts";

/** What the oracle knows of a tool beside its definition. */
export interface ToolFacts {
  /** Whether its effect may happen once only. */
  readonly once: boolean;
  readonly alone: boolean;
  readonly policy: "allow" | "ask" | "deny";
}

const ORDINARY: ToolFacts = { once: true, alone: false, policy: "allow" };

export const TOOL_FACTS: ReadonlyMap<string, ToolFacts> = new Map([
  ["note", ORDINARY],
  ["slow", ORDINARY],
  ["deaf", ORDINARY],
  ["thrower", ORDINARY],
  ["lookup", ORDINARY],
  ["idem", { ...ORDINARY, once: false }],
  ["deadly", { ...ORDINARY, once: false }],
  ["alone", { ...ORDINARY, once: false, alone: true }],
  ["guarded", { ...ORDINARY, policy: "ask" }],
  ["guarded_alone", { ...ORDINARY, alone: true, policy: "ask" }],
  ["forbidden", { ...ORDINARY, policy: "deny" }],
]);

const schema = z.object({ token: z.int(), note: z.string().optional() });
type Args = z.infer<typeof schema>;
type Run = (args: Args, context: AgentToolContext, done: () => ToolResult) => Promise<ToolResult>;

const A_LONG_RESULT = "x".repeat(70_000);

/** The tools of a simulated agent: quick and slow ones, deaf ones, ones that throw, kill, ask, or can look up. */
export function toolsOf(world: World): Tool<z.ZodObject, AgentToolContext>[] {
  const { dice, scheduler, outside } = world;
  const wait = (low: number, high: number): Promise<void> =>
    scheduler.pause(dice.between(low, high), "a tool works");
  const waitOrStop = async ({ signal }: AgentToolContext, high: number): Promise<void> => {
    await sleep(dice.between(0, high), signal, systemTimers);
    signal.throwIfAborted();
  };
  const tool = (
    name: string,
    run: Run,
    traits: Pick<Tool, "idempotent" | "parallel"> &
      Pick<Tool<typeof schema, AgentToolContext>, "findOutcome"> = {},
  ): Tool<typeof schema, AgentToolContext> => ({
    name,
    description: `A simulated tool: ${name}.`,
    schema,
    ...traits,
    async execute(args, context) {
      const life = lifeNow();
      if (!life || life.state === "over") return new Promise<never>(() => undefined);
      const end = world.oracle.toolBegins(context.call.id, args, life, context.signal);
      try {
        return await run(args, context, () => {
          if (life.state === "over") throw new Error("The instance is over.");
          world.oracle.effect(context.call.id, life, context.signal);
          outside.happen({ callId: context.call.id, tool: name, token: args.token });
          const padding = dice.chance(0.02) ? ` ${A_LONG_RESULT}` : "";
          return { content: `done ${args.token}${padding}` };
        });
      } finally {
        end();
      }
    },
  });
  const quick: Run = async (_args, _context, done) => done();
  const obeying: Run = async (_args, context, done) => {
    await waitOrStop(context, 300);
    return done();
  };
  return [
    tool("note", quick),
    tool("slow", async (_args, context, done) => {
      context.progress({ message: "working" });
      await waitOrStop(context, 6_000);
      return done();
    }),
    tool("deaf", async (_args, context, done) => {
      await wait(0, 12_000);
      context.progress({ message: "still here" });
      return done();
    }),
    tool("thrower", async (_args, _context, done) => {
      await wait(0, 50);
      if (dice.chance(0.5)) done();
      throw new Error("thrown by a tool");
    }),
    tool(
      "lookup",
      async ({ token }, context) => {
        await wait(0, 2_000);
        const bytes = new Uint8Array([1]);
        const { version } = await context.workspace.change([{ kind: "write", path: String(token), bytes }]);
        return { content: `done ${token}`, workspaceVersion: version };
      },
      {
        async findOutcome({ workspace, call }) {
          const changed = await workspace.outcome(call.id);
          return changed ? { content: `done ${changed.paths.join()}` } : null;
        },
      },
    ),
    tool("idem", obeying, { idempotent: true }),
    tool("alone", obeying, { idempotent: true, parallel: false }),
    tool("guarded", obeying),
    tool("guarded_alone", obeying, { parallel: false }),
    tool("forbidden", quick),
    tool(
      "deadly",
      async () => {
        await wait(0, 20);
        world.platform.end("a tool that kills");
        return new Promise<never>(() => undefined);
      },
      { idempotent: true },
    ),
    createAskUserTool(),
  ];
}
