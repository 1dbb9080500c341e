import type { VNode } from "preact";
import type { SessionSnapshot } from "../../client/index.ts";
import type { SessionInspector } from "../session-inspector.ts";
import { shareText } from "../wording.ts";

interface SessionActionsProps {
  readonly session: SessionSnapshot;
  readonly store: SessionInspector;
}

/** What leads from a conversation to what can be looked at beside it. */
export function SessionActions({ session, store }: SessionActionsProps): VNode | null {
  const { state, windowTokens, turns } = session;
  const last = turns.at(-1);
  if (!state) return null;
  const share = windowTokens === 0 ? "–" : shareText(windowTokens, state.contextWindow);
  return (
    <div class="actions" role="group" aria-label="About this session">
      <button type="button" class="quiet" onClick={() => store.show({ kind: "context" })}>
        Context <span class="share">{share}</span>
      </button>
      <button type="button" class="quiet" onClick={() => store.show({ kind: "checkpoints" })}>
        Checkpoints
      </button>
      {last && (
        <button type="button" class="quiet" onClick={() => store.show({ kind: "trace", turn: last.turn })}>
          Trace
        </button>
      )}
    </div>
  );
}
