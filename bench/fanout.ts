import type { Conversation, Dialect, Turn } from "./conversation.ts";
import { scriptName, textScript } from "./model-script.ts";
import type { TextScript } from "./model-script.ts";
import type { Benchmark, Figures } from "./rounds.ts";
import type { BenchServer } from "./servers/server.ts";
import { quantile } from "./statistics.ts";
import { addedMs, deliveries, perSecond } from "./turn-figures.ts";
import type { Delivery } from "./turn-figures.ts";

const CLIENTS = 100;
const BURST = textScript(2_000);
/** 60 tokens a second for two seconds. */
const PACED = textScript(120, 1, 17);

/** How a hundred clients of one session see a reply stream. */
export const fanout: Benchmark = {
  shown: [
    {
      key: "deliveries",
      name: "100 clients, 2,000 deltas at once",
      unit: "deliveries/s",
      goal: { timesPeer: 40, bound: "least" },
    },
    { key: "p50", name: "100 clients, 60 deltas a second: added, p50", unit: "ms" },
    { key: "p99", name: "  p99", unit: "ms", goal: { timesPeer: 0.3, bound: "most" } },
  ],

  async round(server): Promise<Figures> {
    const session = await server.open("instant");
    const others: Conversation[] = [];
    try {
      await session.conversation.turn(scriptName(textScript(1)));
      for (let client = 1; client < CLIENTS; client += 1) others.push(await session.join());
      const clients = [session.conversation, ...others];
      const burst = await turnOfAll(server, clients, session.dialect, BURST);
      const paced = await turnOfAll(server, clients, session.dialect, PACED);
      const added = paced.map(addedMs);
      return { deliveries: perSecond(burst), p50: quantile(added, 0.5), p99: quantile(added, 0.99) };
    } finally {
      for (const client of [session.conversation, ...others]) client.close();
    }
  },
};

/** The first client prompts, all follow. */
async function turnOfAll(
  { name }: BenchServer,
  [first, ...others]: readonly Conversation[],
  dialect: Dialect,
  script: TextScript,
): Promise<Delivery[]> {
  const model = scriptName(script);
  if (!first) return [];
  const turns: readonly Turn[] = await Promise.all([
    ...others.map((other) => other.follow(model)),
    first.turn(model),
  ]);
  const all = turns.flatMap((turn) => deliveries(turn, dialect));
  if (all.length !== script.deltas * turns.length) {
    throw new Error(`${name} delivered ${all.length} of ${script.deltas * turns.length} deltas.`);
  }
  return all;
}
