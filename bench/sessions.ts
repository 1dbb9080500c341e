import { setTimeout as delay } from "node:timers/promises";
import type { Conversation } from "./conversation.ts";
import { microseconds } from "./markers.ts";
import { scriptName, textScript } from "./model-script.ts";
import { residentKb } from "./processor-time.ts";
import type { Benchmark, Figures } from "./rounds.ts";
import type { BenchServer, OpenSession } from "./servers/server.ts";
import { quantile } from "./statistics.ts";
import { addedMs, deliveries } from "./turn-figures.ts";

const IDLE = 100;
/** How many sessions stream at once, one level after another until one is too slow. */
const LEVELS = [5, 10, 20, 30, 45, 70, 100, 140, 200, 280, 400];
const SLOWEST_P99_MS = 50;
/** 60 tokens a second for two seconds. */
const PACED = scriptName(textScript(120, 1, 17));
const SHORT = scriptName(textScript(1));
/** The turn that somebody joins, and after how many of its deltas. */
const JOINED = scriptName(textScript(600, 1, 5));
const JOINED_AFTER = 400;

/** How many sessions one process carries, what an idle one holds, and how a client catches up with a turn that runs. */
export const sessions: Benchmark = {
  shown: [
    { key: "idleKb", name: "memory of an idle session", unit: "KB", goal: { value: 450, bound: "most" } },
    {
      key: "streaming",
      name: "sessions of 60 deltas a second with a p99 under 50 ms",
      unit: "",
      goal: { timesPeer: 8, bound: "least" },
    },
    {
      key: "joinMs",
      name: "a client joins after 400 of 600 deltas: has them",
      unit: "ms",
      goal: { timesPeer: 0.3, bound: "most" },
    },
    { key: "joinBytes", name: "  bytes until then", unit: "bytes" },
    { key: "joinFrames", name: "  frames until then", unit: "" },
  ],

  async round(server): Promise<Figures> {
    const idleKb = await memoryOfIdle(server);
    return {
      ...(idleKb === null ? {} : { idleKb }),
      streaming: await mostStreaming(server),
      ...(await join(server)),
    };
  },
};

/** What the process grows by for each session that has had a turn and whose client is still there. */
async function memoryOfIdle(server: BenchServer): Promise<number | null> {
  const { processId } = server;
  if (processId === null) return null;
  const before = residentKb(processId);
  const opened = await open(server, IDLE);
  await delay(500);
  const after = residentKb(processId);
  close(opened);
  return before === null || after === null ? null : (after - before) / IDLE;
}

/** The highest level at which the p99 over all sessions is low enough; 0 for none. */
async function mostStreaming(server: BenchServer): Promise<number> {
  let most = 0;
  const opened: OpenSession[] = [];
  try {
    for (const level of LEVELS) {
      opened.push(...(await open(server, level - opened.length)));
      const turns = await Promise.all(opened.map(async (session) => streamed(session)));
      if (quantile(turns.flat(), 0.99) > SLOWEST_P99_MS) break;
      most = level;
    }
    return most;
  } finally {
    close(opened);
  }
}

/** What the server adds to each delta of a paced turn, in ms. */
async function streamed({ conversation, dialect }: OpenSession): Promise<number[]> {
  // Not all in the same instant: people do not type in step.
  await delay(Math.random() * 500);
  return deliveries(await conversation.turn(PACED), dialect).map(addedMs);
}

/** How a client catches up that comes in mid-turn; nothing for a server that does not tell what was missed. */
async function join(server: BenchServer): Promise<Figures> {
  const [session] = await open(server, 1);
  if (!session) return {};
  const { conversation, dialect } = session;
  const { missedText } = dialect;
  let joined: Conversation | null = null;
  try {
    const turn = conversation.turn(JOINED);
    if (missedText === null) {
      await turn;
      return {};
    }
    const text = ({ frames }: Conversation): number =>
      frames.reduce((sum, frame) => sum + (missedText.call(dialect, frame.text)?.length ?? 0), 0);
    const frames = (): number =>
      conversation.frames.filter((frame) => dialect.deltaText(frame.text) !== null).length;
    while (frames() < JOINED_AFTER) await delay(5);
    const missed = text(conversation);
    const from = microseconds();
    joined = await session.join();
    while (text(joined) < missed) await delay(0);
    const { at, ...cost } = caughtUpBy(joined, missed, (frame) => missedText.call(dialect, frame));
    await turn;
    return { ...cost, joinMs: (at - from) / 1_000 };
  } finally {
    joined?.close();
    conversation.close();
  }
}

/** The frame with which a client had so many characters, and all that had come by then. */
function caughtUpBy(
  { frames }: Conversation,
  missed: number,
  textOf: (frame: string) => string | null,
): { at: number; joinBytes: number; joinFrames: number } {
  let [characters, joinBytes, joinFrames] = [0, 0, 0];
  for (const { at, text } of frames) {
    characters += textOf(text)?.length ?? 0;
    joinBytes += Buffer.byteLength(text);
    joinFrames += 1;
    if (characters >= missed) return { at, joinBytes, joinFrames };
  }
  throw new RangeError("The client did not catch up.");
}

/** New sessions that have had a short turn. */
async function open(server: BenchServer, count: number): Promise<OpenSession[]> {
  const opened: OpenSession[] = [];
  for (let session = 0; session < count; session += 1) {
    const one = await server.open("instant");
    await one.conversation.turn(SHORT);
    opened.push(one);
  }
  return opened;
}

function close(opened: readonly OpenSession[]): void {
  for (const { conversation } of opened) conversation.close();
}
