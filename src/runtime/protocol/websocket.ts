// Apart from the frames' schemas, so that a client's bundle does without zod.

/** The subprotocol that clients offer and the server selects. */
export const WEBSOCKET_PROTOCOL = "light-agent.v1";

/** Close codes of the WebSocket. */
export const CLOSE = {
  protocolError: 4000,
  credential: 4001,
  tooSlow: 4008,
  replaced: 4009,
  deleted: 4404,
  restart: 1012,
} as const;
