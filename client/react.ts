/** The client for React, from version 18 on. */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { createUseSession } from "./use-session.ts";
import type { UseSession } from "./use-session.ts";

export type { UseSession, UsedSession } from "./use-session.ts";

/** A session in a React component. */
export const useSession: UseSession = createUseSession({ useEffect, useMemo, useSyncExternalStore });
