import type { VNode } from "preact";
import type { SessionSnapshot } from "../../client/index.ts";
import type { InspectorState, SessionInspector } from "../session-inspector.ts";
import { LateView } from "./late-view.tsx";
import { SidePanel } from "./side-panel.tsx";

interface TracePanelProps {
  readonly turn: number;
  readonly session: SessionSnapshot;
  readonly state: InspectorState;
  readonly store: SessionInspector;
}

const loadWaterfall = async () => (await import("./waterfall-view.tsx")).WaterfallView;

/** What a turn did and when. The waterfall itself is loaded when it is first looked at. */
export function TracePanel({ turn, session, state, store }: TracePanelProps): VNode {
  const { trace, problem } = state;
  const last = session.turns.at(-1)?.turn ?? turn;
  const isThere = trace?.turn === turn;
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
      {problem && !isThere && (
        <button type="button" onClick={() => void store.readTrace()}>
          Try again
        </button>
      )}
      {!isThere && !problem && <p class="hint">Loading the trace…</p>}
      {isThere && <LateView load={loadWaterfall} props={{ spans: trace.spans }} />}
    </SidePanel>
  );
}
