import { readUIMessageStream, uiMessageChunkSchema } from "ai";
import type { UIMessage, UIMessageChunk } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toUiMessageChunks } from "../../../src/api/ai-sdk/ui-message-chunks.ts";
import { toUiMessages } from "../../../src/api/ai-sdk/ui-messages.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import { foldSession } from "../../../src/runtime/protocol/session-fold.ts";
import { truthAt } from "../support/timeline.ts";
import { changesOf, framesFrom, visits } from "../support/turn-connections.ts";

/** What the real client makes of the chunks. It throws what the client finds wrong with them. */
async function readByClient(
  chunks: readonly UIMessageChunk[],
  message?: UIMessage,
): Promise<UIMessage | undefined> {
  const { validate } = uiMessageChunkSchema();
  for (const chunk of chunks) {
    // As it arrives: what is undefined does not travel.
    const parsed = await validate?.(JSON.parse(JSON.stringify(chunk)));
    expect(parsed).toMatchObject({ success: true });
  }
  const told = new Set(chunks.flatMap((chunk) => (chunk.type === "error" ? [chunk.errorText] : [])));
  const problems: unknown[] = [];
  const stream = readUIMessageStream<UIMessage>({
    stream: new ReadableStream<UIMessageChunk>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    }),
    ...(message && { message: structuredClone(message) }),
    onError: (error) => {
      if (!(error instanceof Error) || !told.has(error.message)) problems.push(error);
    },
  });
  let last: UIMessage | undefined = message;
  for await (const state of stream) last = state;
  expect(problems).toEqual([]);
  return last && (JSON.parse(JSON.stringify(last)) as UIMessage);
}

/** The reply of a turn in the history of a log. */
function replyOf(log: readonly DurableEvent[], turn: number): UIMessage | undefined {
  const own = log.filter((event) => event.turn === turn && event.type !== "checkpoint_restore");
  return toUiMessages(own).find(({ role }) => role === "assistant") as UIMessage | undefined;
}

/** Without what nobody sees: steps in which nothing stayed, and a reply of nothing. */
function visible(message: UIMessage | undefined): UIMessage | undefined {
  if (!message) return undefined;
  const ofAStep = (type = "step-start"): boolean => type !== "step-start" && type !== "steering-message";
  const parts = message.parts.filter(
    ({ type }, index, all) => type !== "step-start" || ofAStep(all[index + 1]?.type),
  );
  return parts.length > 0 || message.metadata !== undefined ? { ...message, parts } : undefined;
}

const RUNS = { numRuns: 200, interruptAfterTimeLimit: 20_000 };

describe("a turn as a UI message stream", () => {
  it("[AISDK-2] every prefix is one that the client takes; a whole one ends as the history has it", async () => {
    await fc.assert(
      fc.asyncProperty(visits, async ({ moments, input, from, cut }) => {
        const query = { after: input.seq - 1, of: { promptId: input.promptId } };
        const frames = framesFrom(moments, from, query.after);
        const part = changesOf(query, frames.slice(0, cut % (frames.length + 1)));
        const shown = part.changes.flatMap(toUiMessageChunks);
        await readByClient(shown);
        if (shown.length > 0) expect(shown[0]).toMatchObject({ type: "start" });
        const whole = changesOf(query, frames);
        const chunks = whole.changes.flatMap(toUiMessageChunks);
        expect(chunks.slice(0, shown.length)).toEqual(shown);
        const message = await readByClient(chunks);
        const ends = chunks.filter(({ type }) => type === "finish");
        expect(ends).toHaveLength(whole.progress.ended ? 1 : 0);
        if (whole.progress.ended) expect(chunks.at(-1)?.type).toBe("finish");
        if (whole.changes.at(-1)?.type !== "stop") return;
        const reply = replyOf(truthAt(moments, moments.length).log, input.turn);
        expect(visible(message)).toEqual(visible(reply));
      }),
      RUNS,
    );
  });

  it("[AISDK-4] after each answer the client's message goes on, to the same end as a message that was never cut", async () => {
    let resumed = 0;
    await fc.assert(
      fc.asyncProperty(visits, async ({ moments, input, from }) => {
        let message: UIMessage | undefined;
        let at = from;
        let resumeAt: ReadonlySet<string> | undefined;
        for (;;) {
          const query = { after: input.seq - 1, of: { turn: input.turn }, ...(resumeAt && { resumeAt }) };
          // A turn that is named has begun.
          while (at < moments.length && !hasBegun(truthAt(moments, at).log, input)) at += 1;
          const { changes, progress } = changesOf(query, framesFrom(moments, at, query.after));
          message = await readByClient(changes.flatMap(toUiMessageChunks), message);
          const last = changes.at(-1);
          if (last?.type === "stop") {
            const reply = replyOf(truthAt(moments, moments.length).log, input.turn);
            expect(visible(message)).toEqual(visible(reply));
            return;
          }
          if (last?.type !== "wait") return;
          const ids = last.requests.map((request) =>
            request.type === "approval_request" ? request.approvalId : request.callId,
          );
          resumeAt = new Set(ids);
          // Moments that had passed when it began to wait.
          let waitedAt = at;
          while (truthAt(moments, waitedAt).log.length < progress.view.head) waitedAt += 1;
          const requests = last.requests.map((request) =>
            request.type === "approval_request" ? request.approvalId : request.inputId,
          );
          // The next request comes when one of them has been answered.
          const answeredIn = (count: number): boolean => {
            const { open } = foldSession(truthAt(moments, count).log);
            const stillAsked = open?.calls.flatMap(({ approval, question }) =>
              [approval, question].flatMap((request) => (request?.open ? [request.id] : [])),
            );
            return (
              hasBegun(truthAt(moments, count).log, input) &&
              !requests.every((id) => stillAsked?.includes(id))
            );
          };
          at = Math.max(at, waitedAt);
          while (at <= moments.length && !answeredIn(at)) at += 1;
          if (at > moments.length) return;
          resumed += 1;
        }
      }),
      RUNS,
    );
    expect(resumed).toBeGreaterThan(5);
  });
});

function hasBegun(log: readonly DurableEvent[], input: DurableEvent<"input">): boolean {
  return log.some(({ seq }) => seq === input.seq);
}
