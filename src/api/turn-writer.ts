import type { TurnChange } from "./turn-changes.ts";

/** How a protocol says in its own words what becomes of a turn. */
export interface TurnWriter {
  /** The objects of the protocol for one change, in order. */
  write(change: TurnChange): readonly unknown[];
  /** What ends a stream whose turn has no end: the session was deleted. */
  lost(): readonly unknown[];
  /** What closes every stream, as it stands on the wire. */
  readonly closing: string;
  readonly headers: Readonly<Record<string, string>>;
}
