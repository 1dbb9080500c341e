/** The typed client: it runs in browsers, in Node and in Workers. */
export { LightAgentError } from "../src/runtime/protocol/errors.ts";
export type { ErrorBody, ErrorCode } from "../src/runtime/protocol/errors.ts";
export type { ConnectionState } from "./connection-state.ts";
export { blockKey } from "./conversation.ts";
export type { CallRequest, CallStatus, Entry, Turn } from "./conversation.ts";
export type { Credential } from "./credential.ts";
export type { EventStream, StreamItem } from "./event-stream.ts";
export { Observable } from "./observable.ts";
export type { CallOptions } from "./rest-call.ts";
export type { RestCalls } from "./rest-calls.ts";
export { RestClient } from "./rest-client.ts";
export type { RestClientOptions } from "./rest-client.ts";
export { RestError } from "./rest-error.ts";
export type * from "./rest-types.ts";
export { SessionSocket } from "./session-socket.ts";
export { SessionStore } from "./session-store.ts";
export type { SessionSnapshot, SessionStoreOptions, UnsentPrompt } from "./session-store.ts";
export { undoneTurns } from "./undone-turns.ts";
