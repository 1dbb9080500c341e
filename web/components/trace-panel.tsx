import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionSnapshot } from "../../client/index.ts";
import type { InspectorState, SessionInspector } from "../session-inspector.ts";
import { SidePanel } from "./side-panel.tsx";
import type { WaterfallView } from "./waterfall-view.tsx";

interface TracePanelProps {
  readonly turn: number;
  readonly session: SessionSnapshot;
  readonly state: InspectorState;
  readonly store: SessionInspector;
}

/** What a turn did and when. The waterfall itself is loaded when it is first looked at. */
export function TracePanel({ turn, session, state, store }: TracePanelProps): VNode {
  const [View, setView] = useState<typeof WaterfallView | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import("./waterfall-view.tsx").then(
      (module) => setView(() => module.WaterfallView),
      () => setFailed(true),
    );
  }, []);
  const { trace, problem } = state;
  const last = session.turns.at(-1)?.turn ?? turn;
  const isThere = trace?.turn === turn && View !== null;
  return (
    <SidePanel title={`Trace of turn ${turn}`} state={state} store={store}>
      <nav class="choices" aria-label="Turns">
        <button
          type="button"
          class="quiet"
          disabled={turn <= 1}
          onClick={() => store.show({ kind: "trace", turn: turn - 1 })}
        >
          ← Turn before
        </button>
        <button
          type="button"
          class="quiet"
          disabled={turn >= last}
          onClick={() => store.show({ kind: "trace", turn: turn + 1 })}
        >
          Turn after →
        </button>
      </nav>
      {failed && (
        <>
          <p class="failure" role="alert">
            This view could not be loaded: the connection is gone, or the page is older than the server.
          </p>
          {/* Browsers remember that a module failed: asking for it again would fail without asking. */}
          <button type="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        </>
      )}
      {problem && !failed && !isThere && (
        <button type="button" onClick={() => void store.readTrace()}>
          Try again
        </button>
      )}
      {!isThere && !failed && !problem && <p class="hint">Loading the trace…</p>}
      {isThere && <View spans={trace.spans} />}
    </SidePanel>
  );
}
