import type { VNode } from "preact";
import type { SessionSnapshot } from "../../client/index.ts";
import type { InspectorState, Panel, SessionInspector } from "../session-inspector.ts";
import { shareText } from "../wording.ts";

interface SessionActionsProps {
  readonly session: SessionSnapshot;
  readonly shown: InspectorState["panel"];
  readonly store: SessionInspector;
}

/** What leads from a conversation to what can be looked at beside it, and back. */
export function SessionActions({ session, shown, store }: SessionActionsProps): VNode | null {
  const { state, windowTokens, turns } = session;
  if (!state) return null;
  const last = turns.at(-1);
  const toggle = (panel: Panel) => ({
    type: "button" as const,
    class: "quiet",
    "aria-expanded": shown?.kind === panel.kind,
    onClick: () => (shown?.kind === panel.kind ? store.close() : store.show(panel)),
  });
  return (
    <div class="actions" role="group" aria-label="About this session">
      <button {...toggle({ kind: "context" })}>
        Context
        {windowTokens > 0 && <span class="share"> {shareText(windowTokens, state.contextWindow)}</span>}
      </button>
      <button {...toggle({ kind: "checkpoints" })}>Checkpoints</button>
      {last && <button {...toggle({ kind: "trace", turn: last.turn })}>Trace</button>}
    </div>
  );
}
