export type { ConnectionState } from "./connection-state.ts";
export { blockKey } from "./conversation.ts";
export type { CallRequest, CallStatus, Entry, Turn } from "./conversation.ts";
export { Observable } from "./observable.ts";
export { RestClient } from "./rest-client.ts";
export type { FileEntry, FolderEntry, FolderListing, QueuedPrompt, SessionSummary } from "./rest-types.ts";
export { SessionSocket } from "./session-socket.ts";
export { SessionStore } from "./session-store.ts";
export type { SessionSnapshot, UnsentPrompt } from "./session-store.ts";
