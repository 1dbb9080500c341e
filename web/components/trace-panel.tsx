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
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setFailed(false);
    import("./waterfall-view.tsx").then(
      (module) => setView(() => module.WaterfallView),
      () => setFailed(true),
    );
  }, [tries]);
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
        <p class="failure" role="alert">
          The view could not be loaded. Check the connection and try again.
        </p>
      )}
      {(failed || (problem && !isThere)) && (
        <button
          type="button"
          onClick={() => {
            setTries(tries + 1);
            void store.readTrace();
          }}
        >
          Try again
        </button>
      )}
      {!isThere && !failed && !problem && <p class="hint">Loading the trace…</p>}
      {isThere && <View spans={trace.spans} />}
    </SidePanel>
  );
}
