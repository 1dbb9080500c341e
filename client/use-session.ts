import { SessionStore } from "./session-store.ts";
import type { SessionSnapshot, SessionStoreOptions } from "./session-store.ts";

/** What a component has of a session: all that there is to show, and the store for what a person does with it. */
export interface UsedSession {
  readonly snapshot: SessionSnapshot;
  readonly store: SessionStore;
}

/**
 * Connects a component to a session while it is mounted. Another url, session, or text of a credential is another store;
 * the other options, a function of a credential among them, are read when a store is made. On a server the snapshot is
 * that of a session which is not open yet.
 */
export type UseSession = (options: SessionStoreOptions) => UsedSession;

/** The hooks that it is made of, as React has them. */
export interface Hooks {
  readonly useEffect: (effect: () => () => void, dependencies: readonly unknown[]) => void;
  readonly useMemo: <T>(make: () => T, dependencies: readonly unknown[]) => T;
  readonly useSyncExternalStore: <T>(
    subscribe: (listener: () => void) => () => void,
    read: () => T,
    serverRead: () => T,
  ) => T;
}

/** `useSession` on a library's hooks. */
export function createUseSession({ useEffect, useMemo, useSyncExternalStore }: Hooks): UseSession {
  return (options) => {
    const { url, credential, session } = options;
    const { store, subscribe, read } = useMemo(
      () => followed(new SessionStore(options)),
      [url, typeof credential === "function" ? null : credential, session],
    );
    const snapshot = useSyncExternalStore(subscribe, read, read);
    // After the subscription, so that none of its changes is missed. Mounted again, it goes on where it was.
    useEffect(() => {
      store.open();
      return () => store.close();
    }, [store]);
    return { snapshot, store };
  };
}

/** A store with functions that stay the same as long as it does. */
function followed(store: SessionStore) {
  return {
    store,
    subscribe: (listener: () => void) => store.subscribe(listener),
    read: () => store.value,
  };
}
