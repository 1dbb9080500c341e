import { randomUUID } from "node:crypto";
import { Conversation } from "../conversation.ts";
import type { Dialect } from "../conversation.ts";
import { startWorker } from "../worker-process.ts";
import { NOTHING_BILLED } from "./server.ts";
import type { BenchServer } from "./server.ts";

const dialect: Dialect = {
  prompt: async (model) => JSON.stringify({ model, text: "go" }),
  ends: (frame) => frame === '{"type":"done"}',
  deltaText: (frame) => (JSON.parse(frame) as { d?: string }).d ?? null,
  missedText: null,
};

/** A bare Durable Object: what is left when everything that a runtime does is left out. */
export async function startFloor(modelUrl: string): Promise<BenchServer> {
  const worker = await startWorker("bench/workers/floor.toml", "bench/workers/floor.js", {
    MODEL_URL: modelUrl,
  });
  return {
    name: "floor",
    processId: worker.processId,
    async open() {
      const name = randomUUID();
      const join = (): Promise<Conversation> => Conversation.open(`${worker.url}/${name}`, dialect);
      return {
        conversation: await join(),
        join,
        dialect,
        billed: () => worker.billed("FLOOR", name),
        billedElsewhere: async () => NOTHING_BILLED,
      };
    },
    stop: () => worker.stop(),
  };
}
