import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgentOfCopilotKit } from "ag-ui-client-of-copilotkit";
import type { Message } from "@ag-ui/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { snapshotFor, toRunMessages } from "../../../src/api/ag-ui/thread-messages.ts";
import { newRun, runStarted } from "../../../src/api/ag-ui/run-events.ts";
import { runWriter } from "../../../src/api/ag-ui/run-writer.ts";
import type { RunEvent, RunMessage } from "../../../src/api/ag-ui/wire.ts";
import type { TurnChange } from "../../../src/api/turn-changes.ts";
import { truthAt } from "../support/timeline.ts";
import { changesOf, framesFrom, visits } from "../support/turn-connections.ts";

interface TestedClient {
  // CopilotKit's release has an older one, whose types differ where nothing here looks.
  readonly Agent: typeof HttpAgent;
  /** What it declares with a run. */
  readonly protocolVersion?: string;
}

const CLIENTS = {
  current: { Agent: HttpAgent, protocolVersion: "1.0" },
  "of CopilotKit": { Agent: HttpAgentOfCopilotKit as unknown as typeof HttpAgent },
} satisfies Record<string, TestedClient>;

const tested: [name: string, client: TestedClient][] = Object.entries(CLIENTS);

/** What the real client has after a run of these events. It throws what its parser and its verifier find wrong. */
async function runByClient(
  events: readonly RunEvent[],
  initialMessages: readonly Message[],
  { Agent }: TestedClient,
): Promise<Message[]> {
  const wire = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const agent = new Agent({
    url: "https://light-agent.test/v1/ag-ui",
    threadId: "thread",
    initialMessages: structuredClone(initialMessages) as Message[],
    fetch: async () => new Response(wire, { headers: { "content-type": "text/event-stream" } }),
  });
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  try {
    let failed = false;
    const told = events.some(({ type }) => type === "RUN_ERROR");
    await agent
      .runAgent({ runId: "run" }, { onRunErrorEvent: () => void (failed = true) })
      .catch((caught) => {
        if (!told) throw caught;
      });
    expect(failed).toBe(told);
    expect(warn.mock.calls).toEqual([]);
    return JSON.parse(JSON.stringify(agent.messages)) as Message[];
  } finally {
    warn.mockRestore();
    error.mockRestore();
  }
}

const EARLIER: RunMessage[] = [{ id: "earlier", role: "user", content: "before" }];

/** The events of a run that tells these changes to a client which has `messages`. */
function eventsOf(
  changes: readonly TurnChange[],
  messages: readonly RunMessage[],
  { protocolVersion }: TestedClient,
): RunEvent[] {
  const writer = runWriter(newRun({ threadId: "thread", runId: "run", protocolVersion }, messages));
  return changes.flatMap((change) => [...writer.write(change)]) as RunEvent[];
}

const ENDS: ReadonlySet<string> = new Set(["RUN_FINISHED", "RUN_ERROR"]);

/** Without thoughts that were withdrawn, which a client can only be told to empty. */
const visible = (messages: readonly Message[]): Message[] =>
  messages.filter(({ role, content }) => role !== "reasoning" || content !== "");

const RUNS = { numRuns: 100, interruptAfterTimeLimit: 20_000 };

describe("a turn as a run of AG-UI", () => {
  it.each(tested)(
    "[AGUI-2] every prefix is one that the client %s takes; a whole one ends as the history has it",
    async (_, client) => {
      await fc.assert(
        fc.asyncProperty(visits, async ({ moments, input, from, cut }) => {
          const query = { after: input.seq - 1, of: { promptId: input.promptId } };
          const frames = framesFrom(moments, from, query.after);
          const part = eventsOf(
            changesOf(query, frames.slice(0, cut % (frames.length + 1))).changes,
            EARLIER,
            client,
          );
          // A client does not take a stream without any event for a run.
          if (part.length > 0) await runByClient(part, EARLIER, client);
          const { changes, progress } = changesOf(query, frames);
          const events = eventsOf(changes, EARLIER, client);
          expect(events.slice(0, part.length)).toEqual(part);
          if (events.length === 0) return;
          expect(events[0]?.type).toBe("RUN_STARTED");
          expect(events.filter(({ type }) => ENDS.has(type))).toHaveLength(progress.ended ? 1 : 0);
          if (progress.ended) expect(ENDS.has(events.at(-1)?.type ?? "")).toBe(true);
          const messages = await runByClient(events, EARLIER, client);
          if (changes.at(-1)?.type !== "stop") return;
          const own = truthAt(moments, moments.length).log.filter(
            ({ turn, type }) => turn === input.turn && type !== "checkpoint_restore",
          );
          const [, ...reply] = toRunMessages(own, Number.POSITIVE_INFINITY);
          expect(visible(messages)).toEqual(JSON.parse(JSON.stringify([...EARLIER, ...reply])));
        }),
        RUNS,
      );
    },
  );

  it.each(tested)(
    "[AGUI-4] for the client %s, a run that goes on after an interrupt ends as one that was never cut",
    async (_, client) => {
      let resumed = 0;
      await fc.assert(
        fc.asyncProperty(visits, async ({ moments, input }) => {
          const whole = truthAt(moments, moments.length).log;
          const after = input.seq - 1;
          const isAnswer = ({ turn, type, agentId }: (typeof whole)[number]): boolean =>
            turn === input.turn &&
            agentId === undefined &&
            (type === "approval_resolved" || type === "input_resolved");
          const answer = whole.find(isAnswer);
          if (!answer) return;
          const key =
            answer.type === "approval_resolved" ? answer.approvalId : "callId" in answer ? answer.callId : "";
          // What had been shown when nobody had answered yet, and then the rest.
          const before = [
            ...whole.slice(after, answer.seq - 1),
            { type: "live" as const, head: answer.seq - 1, partial: [] },
          ];
          const first = changesOf({ after, of: { turn: input.turn } }, before).changes;
          const shown = eventsOf(first, EARLIER, client);
          if (shown.at(-1)?.type !== "RUN_FINISHED") return;
          const messages = await runByClient(shown, EARLIER, client);
          const query = { after, of: { turn: input.turn }, resumeAt: new Set([key]) };
          const { changes } = changesOf(query, framesFrom(moments, moments.length, after));
          const events = eventsOf(changes, messages as RunMessage[], client);
          expect(events[0]?.type).toBe("RUN_STARTED");
          const ended = await runByClient(events, messages, client);
          if (changes.at(-1)?.type !== "stop") return;
          const own = whole.filter(({ turn, type }) => turn === input.turn && type !== "checkpoint_restore");
          const [, ...reply] = toRunMessages(own, Number.POSITIVE_INFINITY);
          expect(visible(ended)).toEqual(JSON.parse(JSON.stringify([...EARLIER, ...reply])));
          resumed += 1;
        }),
        RUNS,
      );
      expect(resumed).toBeGreaterThan(5);
    },
  );

  it.each(tested)(
    "[AGUI-5] the client %s that lost its run at any point has all of it after the next",
    async (_, client) => {
      await fc.assert(
        fc.asyncProperty(visits, async ({ moments, input, from, cut }) => {
          const query = { after: input.seq - 1, of: { turn: input.turn } };
          let at = from;
          const hasBegun = (): boolean => truthAt(moments, at).log.some(({ seq }) => seq === input.seq);
          while (!hasBegun()) at += 1;
          const frames = framesFrom(moments, at, query.after);
          const part = eventsOf(
            changesOf(query, frames.slice(0, cut % (frames.length + 1))).changes,
            EARLIER,
            client,
          );
          const known = part.length > 0 ? await runByClient(part, EARLIER, client) : EARLIER;
          const now = moments.length;
          const { log } = truthAt(moments, now);
          const { changes } = changesOf(query, framesFrom(moments, now, query.after));
          if (changes.at(-1)?.type !== "stop") return;
          const own = log.filter(({ turn, type }) => turn === input.turn && type !== "checkpoint_restore");
          const messages = snapshotFor(known as RunMessage[], toRunMessages(own, input.seq));
          const begun = newRun({ threadId: "thread", runId: "run", ...client }, messages);
          const writer = runWriter({ ...begun, started: true });
          const events = [
            runStarted(begun),
            { type: "MESSAGES_SNAPSHOT", messages: [...messages] },
            ...changes.flatMap((change) => [...writer.write(change)]),
          ] as RunEvent[];
          const ended = await runByClient(events, known, client);
          const whole = JSON.parse(JSON.stringify(toRunMessages(own, Number.POSITIVE_INFINITY))) as Message[];
          const byId = (list: readonly Message[]): Message[] =>
            visible(list).toSorted((left, right) => left.id.localeCompare(right.id));
          expect(byId(ended)).toEqual(byId(whole));
        }),
        RUNS,
      );
    },
  );

  it("[AGUI-2] a run that was begun and finds no turn still ends", () => {
    const begun = { ...newRun({ threadId: "t", runId: "r", protocolVersion: "1.0" }, []), started: true };
    const writer = runWriter(begun);
    expect(writer.write({ type: "dropped" })).toMatchObject([
      { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
    ]);
    expect([runStarted(begun), ...writer.lost()]).toMatchObject([
      { type: "RUN_STARTED" },
      { type: "RUN_ERROR" },
    ]);
  });
});
