import type { SessionApi } from "../durable/session-api.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import type { Content } from "../runtime/protocol/content.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { derivedId } from "./derived-id.ts";
import { openingOf } from "./open-turn.ts";
import type { TurnQuery } from "./turn-changes.ts";

/** A user's message of a chat protocol whose clients choose its id. */
export interface SentMessage {
  readonly messageId: string;
  readonly content: Content;
}

/**
 * Prompts once for each message, however often it is sent, and says where its turn is to be followed.
 * @throws LightAgentError `busy` while another prompt's turn waits for a person, and what a prompt may be refused for
 */
export async function promptedTurn(
  session: SessionApi,
  { messageId, content }: SentMessage,
  by: Principal,
): Promise<TurnQuery> {
  const promptId = await derivedId(messageId);
  const state = unwrap(await session.state());
  // Behind a turn that waits for a person a prompt would wait as well, and the client for its stream.
  if (state.status === "waiting" && state.openRequests > 0) {
    const opening = await openingOf(session, state);
    if (opening?.promptId !== promptId) {
      throw new LightAgentError(
        "busy",
        "The turn waits for a person: answer its requests or interrupt it first.",
      );
    }
  }
  const { status, head } = unwrap(await session.prompt({ content, promptId }, by));
  // A turn that began at once begins with the event at `head`; one that waited comes after it.
  return { after: status === "running" ? head - 1 : head, of: { promptId } };
}
