/** What the address bar says after its `#`. It never reaches a server. */
export interface Address {
  /** A key to sign in with: taken, then removed. */
  readonly key: string | null;
  readonly session: string | null;
}

export function readAddress(hash: string): Address {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  return { key: fields.get("key") || null, session: fields.get("session") || null };
}

/** The part of the address that leads to a session. */
export function addressOf(session: string | null): string {
  return session === null ? "#" : `#${new URLSearchParams({ session })}`;
}
