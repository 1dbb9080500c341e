import type { Event, Message } from "@ag-ui/core";

/** The version of the protocol that is spoken here. */
export const PROTOCOL_VERSION = "1.0";

/** As an object stands on the wire: the type is its name, not a member of the package's enumeration. */
type OnWire<T> = T extends { type: infer Name extends string }
  ? Omit<T, "type"> & { type: `${Name}` }
  : never;

/** An event of the AG-UI protocol. */
export type RunEvent = OnWire<Event>;

export type RunMessage = Message;
