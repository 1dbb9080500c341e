import type { SessionApi } from "../../durable/session-api.ts";
import { unwrap } from "../../runtime/protocol/answer.ts";
import type { Principal } from "../../runtime/protocol/principal.ts";
import { derivedId } from "../derived-id.ts";
import type { TurnQuery } from "../turn-changes.ts";
import { promptedTurn } from "../turn-prompt.ts";
import type { SentMessage } from "../turn-prompt.ts";
import { wholeLog } from "../whole-log.ts";

/**
 * Prompts once more with a message that was sent before, perhaps with other words: the session goes back to what it was
 * before that message's last turn, conversation and files, as a restore does it, and the prompt gets an id of its own.
 * @throws LightAgentError `busy` while a turn runs or waits, or prompts wait
 */
export async function promptedAgain(
  session: SessionApi,
  message: SentMessage,
  by: Principal,
): Promise<TurnQuery> {
  const turns = new Map<string, number>();
  for (const event of await wholeLog(session, ["input"])) {
    if (event.type === "input" && event.agentId === undefined) turns.set(event.promptId, event.turn);
  }
  let messageId = message.messageId;
  let before: number | undefined;
  for (let again = 1; ; again += 1) {
    const turn = turns.get(await derivedId(messageId));
    if (turn === undefined) break;
    before = turn;
    messageId = `${message.messageId} again ${again}`;
  }
  if (before !== undefined) {
    // The checkpoints count down: the one before the next turn's is this turn's.
    const { data } = unwrap(await session.checkpoints({ limit: 1, cursor: String(before + 1) }));
    unwrap(await session.restore({ toSeq: data[0]?.seq ?? 0 }, by));
  }
  return promptedTurn(session, { ...message, messageId }, by);
}
