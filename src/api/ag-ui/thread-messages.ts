import type { ContentPart as AgUiPart } from "@ag-ui/core";
import { textOf } from "../../runtime/protocol/content.ts";
import type { Content } from "../../runtime/protocol/content.ts";
import { inForce } from "../../runtime/protocol/conversation.ts";
import type { DurableEvent } from "../../runtime/protocol/durable-events.ts";
import { followTurn, startFollowing } from "../turn-changes.ts";
import { newRun, toRunEvents } from "./run-events.ts";
import type { RunMessage } from "./wire.ts";

/**
 * The conversation as AG-UI messages, with the ids that the turns' runs give them. Of the turn whose `input` is
 * `openSeq` only what the user wrote: the rest is told as it comes.
 */
export function toRunMessages(log: readonly DurableEvent[], openSeq: number): readonly RunMessage[] {
  const { events } = inForce(log.filter(({ type }) => type !== "agent_summary"));
  let run = newRun({ threadId: "", runId: "" }, []);
  for (const turn of Map.groupBy(events, (event) => event.turn).values()) {
    const [input] = turn;
    if (input?.type !== "input") continue;
    const user: RunMessage = { id: input.promptId, role: "user", content: userContent(input.content) };
    run = { ...run, messages: [...run.messages, user] };
    if (input.seq >= openSeq) continue;
    let progress = startFollowing({ after: input.seq - 1, of: { turn: input.turn } });
    for (const event of turn) {
      const followed = followTurn(progress, event);
      progress = followed.progress;
      for (const change of followed.changes) run = toRunEvents(run, change).run;
    }
  }
  return run.messages;
}

function userContent(content: Content): string | AgUiPart[] {
  if (content.every(({ type }) => type === "text")) return textOf(content);
  return content.map((part): AgUiPart => {
    if (part.type === "text") return part;
    const { url, path, artifact = "", mediaType: mimeType } = part;
    const source =
      url === undefined
        ? { type: "file" as const, value: path ?? artifact, mimeType }
        : { type: "url" as const, value: url, mimeType };
    return { type: "image", source };
  });
}

/**
 * The messages with which a client that has `known` begins anew. Clients keep a thought that a snapshot does not name and
 * would append to it what the turn's run tells of it, so those are named, and empty.
 */
export function snapshotFor(
  known: readonly RunMessage[],
  messages: readonly RunMessage[],
): readonly RunMessage[] {
  const named = new Set(messages.map(({ id }) => id));
  const thoughts = known.flatMap((message): RunMessage[] =>
    message.role === "reasoning" && !named.has(message.id) ? [{ ...message, content: "" }] : [],
  );
  return [...messages, ...thoughts];
}
