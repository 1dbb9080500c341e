import type { SessionState } from "../src/runtime/protocol/frames.ts";
import type { LivePayload } from "../src/runtime/protocol/live-events.ts";

/** A part of a list; `next` is the cursor of the part that follows, null at the end. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next: string | null;
}

/** A session as the list shows it: as of its last turn's end. */
export type SessionSummary = Pick<
  SessionState,
  "id" | "agent" | "agentVersion" | "workspace" | "title" | "status" | "head" | "createdAt" | "updatedAt"
>;

/** A prompt that waits. */
export type QueuedPrompt = LivePayload<"queue">["waiting"][number];

export interface NewSession {
  readonly id?: string;
  readonly agent?: string;
  readonly workspace?: string;
  readonly title?: string;
}

/** A file of a workspace: `size` in bytes, `modifiedAt` in ms since the epoch. */
export interface FileEntry {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly version: number;
  readonly modifiedAt: number;
}

/** What stands in a folder: files, and folders with the number of files below them. */
export type FolderEntry =
  | ({ readonly kind: "file" } & FileEntry)
  | { readonly kind: "directory"; readonly path: string; readonly files: number };

export interface FolderListing {
  readonly entries: readonly FolderEntry[];
  /** Files below the folder that are not among the entries, those in listed folders included. */
  readonly omitted: number;
}
