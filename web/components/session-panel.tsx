import type { VNode } from "preact";
import type { App, AppState } from "../app.ts";
import { CheckpointsPanel } from "./checkpoints-panel.tsx";
import { ContextPanel } from "./context-panel.tsx";
import { TracePanel } from "./trace-panel.tsx";

/** What is looked at beside the conversation; nothing while nothing is. */
export function SessionPanel({ state, app }: { readonly state: AppState; readonly app: App }): VNode | null {
  const { session, inspector } = state;
  const store = app.inspector;
  if (!session || !store || !inspector?.panel) return null;
  const shared = { session, state: inspector, store };
  switch (inspector.panel.kind) {
    case "context":
      return <ContextPanel {...shared} />;
    case "checkpoints":
      return <CheckpointsPanel {...shared} app={app} />;
    case "trace":
      return <TracePanel {...shared} turn={inspector.panel.turn} />;
  }
}
