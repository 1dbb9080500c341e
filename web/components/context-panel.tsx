import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { SessionSnapshot } from "../../client/index.ts";
import type { InspectorState, SessionInspector } from "../session-inspector.ts";
import { shareText } from "../wording.ts";
import { SidePanel } from "./side-panel.tsx";

interface ContextPanelProps {
  readonly session: SessionSnapshot;
  readonly state: InspectorState;
  readonly store: SessionInspector;
}

/** How much of the model's context window the conversation takes, and having it summarised. */
export function ContextPanel({ session, state, store }: ContextPanelProps): VNode {
  const [instructions, setInstructions] = useState("");
  const { windowTokens, turns } = session;
  const size = session.state?.contextWindow ?? 0;
  const running = turns.at(-1)?.running ?? false;
  const summarising = state.busy || session.summarising;
  return (
    <SidePanel title="Context window" state={state} store={store}>
      {windowTokens === 0 ? (
        <p>How much of the window is in use is known after the model’s next answer.</p>
      ) : (
        <p>
          About <strong>{windowTokens.toLocaleString("en")}</strong> of {size.toLocaleString("en")} tokens (
          {shareText(windowTokens, size)}).
        </p>
      )}
      <meter
        aria-label="Context window in use"
        min={0}
        max={size}
        high={size * 0.75}
        optimum={0}
        value={windowTokens}
      />
      <p class="hint">
        Each answer costs what stands in the window. Before it is full, earlier turns are summarised by
        themselves; the messages stay in the conversation.
      </p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void store.summarise(instructions);
        }}
      >
        <label for="summary-instructions">What the summary should keep in mind (optional)</label>
        <textarea
          id="summary-instructions"
          rows={3}
          maxLength={8_000}
          value={instructions}
          onInput={({ currentTarget }) => setInstructions(currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={turns.length === 0 || running || summarising}>
          {summarising ? "Summarising…" : "Summarise now"}
        </button>
        {turns.length === 0 && <p class="hint">There is nothing to summarise yet.</p>}
        {running && <p class="hint">A conversation is summarised between turns: wait for this one to end.</p>}
      </form>
    </SidePanel>
  );
}
