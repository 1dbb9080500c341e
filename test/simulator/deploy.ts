import { deployment } from "../../src/deployment.ts";
import { LightAgentError } from "../../src/runtime/protocol/errors.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";
import { toolsOf } from "./tools.ts";
import type { World } from "./world.ts";

/** Makes the product's deployment that of a world, as a fork would edit the file: its tools, its models, its hooks. */
export function deploy(world: World): void {
  const { dice, scheduler, tally } = world;
  const tools = toolsOf(world);
  const pause = (): Promise<void> => scheduler.pause(dice.between(0, 30), "a hook works");
  const hook = async (name: string): Promise<void> => {
    if (dice.chance(0.15)) await pause();
    if (world.calm || !dice.chance(0.01)) return;
    tally.count(`hook threw: ${name}`);
    throw new Error("thrown by a hook");
  };
  const fork: Partial<typeof deployment> = {
    limits: DEFAULT_LIMITS,
    tools,
    defaultTools: tools.map(({ name }) => name),
    prompts: [{ name: "role", content: "You are simulated." }],
    hooks: {
      beforeModel: () => hook("beforeModel"),
      beforeTool: () => hook("beforeTool"),
      afterTool: () => hook("afterTool"),
    },
    middleware: [],
    defaultModel: () => world.defaultModel,
    model(id) {
      if (id === world.defaultModel || id === "sim/other") return world.model.provider(id);
      throw new LightAgentError("invalid_request", "Unknown model.");
    },
  };
  Object.assign(deployment, fork);
}
