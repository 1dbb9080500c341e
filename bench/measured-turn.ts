import { setTimeout as delay } from "node:timers/promises";
import type { Dialect, Turn } from "./conversation.ts";
import { scriptName, textScript } from "./model-script.ts";
import type { ModelScript } from "./model-script.ts";
import { processorMs } from "./processor-time.ts";
import type { BenchServer } from "./servers/server.ts";
import type { Billed } from "./worker-process.ts";

/** One turn, with what it cost. */
export interface MeasuredTurn {
  readonly turn: Turn;
  readonly dialect: Dialect;
  /** Of the server's workerd; null where that cannot be read. */
  readonly processorMs: number | null;
  /** By the session's object, and by others for its sake. */
  readonly billed: Billed;
  readonly billedElsewhere: Billed;
}

/** What a server still does when a turn's end has been told counts as part of the turn. */
const SETTLE_MS = 150;

/** A turn of a new session that has had a short one: what is done once per session is not measured. */
export async function measureTurn(
  server: BenchServer,
  script: ModelScript,
  tool: string,
): Promise<MeasuredTurn> {
  const session = await server.open(tool);
  const { conversation, dialect } = session;
  try {
    await conversation.turn(scriptName(textScript(1)));
    await delay(SETTLE_MS);
    const before = {
      own: await session.billed(),
      elsewhere: await session.billedElsewhere(),
      ms: busyMs(server),
    };
    const turn = await conversation.turn(scriptName(script));
    await delay(SETTLE_MS);
    const after = busyMs(server);
    return {
      turn,
      dialect,
      processorMs: before.ms === null || after === null ? null : after - before.ms,
      billed: difference(await session.billed(), before.own),
      billedElsewhere: difference(await session.billedElsewhere(), before.elsewhere),
    };
  } finally {
    conversation.close();
  }
}

function busyMs({ processId }: BenchServer): number | null {
  return processId === null ? null : processorMs(processId);
}

function difference(after: Billed, before: Billed): Billed {
  return {
    rows: after.rows - before.rows,
    statements: after.statements - before.statements,
    alarms: after.alarms - before.alarms,
    keyValue: after.keyValue - before.keyValue,
  };
}
