/** The client for Preact, without its compatibility layer. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { createUseSession } from "./use-session.ts";
import type { Hooks, UseSession } from "./use-session.ts";

export type { UseSession, UsedSession } from "./use-session.ts";

/** Preact draws a component in one go, so it needs no more than to be told of changes. */
const useSyncExternalStore: Hooks["useSyncExternalStore"] = (subscribe, read) => {
  const [, setShown] = useState(read);
  useEffect(() => {
    const show = (): void => setShown(read);
    show();
    return subscribe(show);
  }, [subscribe, read]);
  return read();
};

/** A session in a Preact component. */
export const useSession: UseSession = createUseSession({ useEffect, useMemo, useSyncExternalStore });
