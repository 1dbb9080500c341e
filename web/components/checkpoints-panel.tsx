import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Checkpoint, SessionSnapshot } from "../../client/index.ts";
import type { App } from "../app.ts";
import type { InspectorState, RestoredPart, SessionInspector } from "../session-inspector.ts";
import { SidePanel } from "./side-panel.tsx";

interface CheckpointsPanelProps {
  readonly session: SessionSnapshot;
  readonly state: InspectorState;
  readonly store: SessionInspector;
  readonly app: App;
}

/** What somebody is about to do with a checkpoint. */
interface Plan {
  readonly turn: number;
  readonly what: "restore" | "fork";
}

/** The points to which a session can go back, or from which another one can begin. */
export function CheckpointsPanel({ session, state, store, app }: CheckpointsPanelProps): VNode {
  const [plan, setPlan] = useState<Plan | null>(null);
  const { checkpoints, moreCheckpoints, busy } = state;
  const lastTurn = session.turns.at(-1);
  // Each new turn is one more checkpoint.
  const newest = useRef(lastTurn?.turn);
  useLayoutEffect(() => {
    if (newest.current !== lastTurn?.turn) void store.listCheckpoints();
    newest.current = lastTurn?.turn;
  }, [lastTurn?.turn]);

  async function fork(checkpoint: Checkpoint): Promise<void> {
    const forked = await store.fork(checkpoint, session.state?.title ?? "");
    if (forked === null) return;
    app.goTo(forked);
    await app.refreshSessions();
  }

  return (
    <SidePanel title="Checkpoints" state={state} store={store}>
      <p class="hint">
        The point before each turn. Restoring takes this session back; a fork leaves it as it is and begins
        another one there.
      </p>
      {checkpoints === null && !state.problem && <p class="hint">Loading the checkpoints…</p>}
      {checkpoints === null && state.problem && (
        <button type="button" onClick={() => void store.listCheckpoints()}>
          Try again
        </button>
      )}
      {checkpoints?.length === 0 && (
        <p class="hint">None yet: there is one for each prompt. Send the first one.</p>
      )}
      <ul class="checkpoints">
        {checkpoints?.map((checkpoint) => (
          <li key={checkpoint.turn}>
            <CheckpointItem
              checkpoint={checkpoint}
              plan={plan?.turn === checkpoint.turn ? plan.what : null}
              busy={busy}
              running={lastTurn?.running ?? false}
              onPlan={(what) => setPlan(what && { turn: checkpoint.turn, what })}
              onRestore={(part) => {
                setPlan(null);
                void store.restore(checkpoint, part);
              }}
              onFork={() => void fork(checkpoint)}
            />
          </li>
        ))}
      </ul>
      {moreCheckpoints && (
        <button type="button" class="quiet" disabled={busy} onClick={() => void store.listMoreCheckpoints()}>
          Show earlier ones
        </button>
      )}
    </SidePanel>
  );
}

interface CheckpointItemProps {
  readonly checkpoint: Checkpoint;
  readonly plan: Plan["what"] | null;
  readonly busy: boolean;
  readonly running: boolean;
  readonly onPlan: (what: Plan["what"] | null) => void;
  readonly onRestore: (part: RestoredPart) => void;
  readonly onFork: () => void;
}

function CheckpointItem(props: CheckpointItemProps): VNode {
  const { checkpoint, plan, busy, running, onPlan, onRestore, onFork } = props;
  const { turn, at, preview } = checkpoint;
  return (
    <>
      <h3>
        Before turn {turn}
        <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleString()}</time>
      </h3>
      <p class="preview">{preview}</p>
      <div class="choices">
        <button
          type="button"
          class="quiet"
          aria-label={`Restore to before turn ${turn}`}
          aria-expanded={plan === "restore"}
          onClick={() => onPlan(plan === "restore" ? null : "restore")}
        >
          Restore…
        </button>
        <button
          type="button"
          class="quiet"
          aria-label={`Fork before turn ${turn}`}
          aria-expanded={plan === "fork"}
          onClick={() => onPlan(plan === "fork" ? null : "fork")}
        >
          Fork…
        </button>
      </div>
      {plan === "restore" && (
        <RestoreForm busy={busy} running={running} onRestore={onRestore} onCancel={() => onPlan(null)} />
      )}
      {plan === "fork" && (
        <div class="confirm">
          <p>
            A new session begins with the conversation and the files of that point. This one stays as it is.
          </p>
          <div class="choices">
            <button type="button" class="primary" disabled={busy} onClick={onFork}>
              {busy ? "Forking…" : "Fork"}
            </button>
            <button type="button" class="quiet" onClick={() => onPlan(null)}>
              Cancel
            </button>
          </div>
        </div>
      )}
    </>
  );
}

const PARTS: readonly { readonly part: RestoredPart; readonly label: string }[] = [
  { part: "both", label: "Conversation and files" },
  { part: "conversation", label: "Conversation only" },
  { part: "files", label: "Files only" },
];

interface RestoreFormProps {
  readonly busy: boolean;
  readonly running: boolean;
  readonly onRestore: (part: RestoredPart) => void;
  readonly onCancel: () => void;
}

function RestoreForm({ busy, running, onRestore, onCancel }: RestoreFormProps): VNode {
  const [part, setPart] = useState<RestoredPart>("both");
  return (
    <form
      class="confirm"
      onSubmit={(event) => {
        event.preventDefault();
        onRestore(part);
      }}
    >
      <fieldset>
        <legend>What goes back?</legend>
        {PARTS.map((choice) => (
          <label key={choice.part}>
            <input
              type="radio"
              name="part"
              checked={part === choice.part}
              onChange={() => setPart(choice.part)}
            />
            {choice.label}
          </label>
        ))}
      </fieldset>
      <p class="hint">
        {part !== "files" &&
          "Later messages stay in sight, and restoring to a later point brings them back. "}
        {part !== "conversation" &&
          "Of the files, those that this session has changed since go back; what others have changed since stays."}
      </p>
      {running && <p class="hint">A turn is running. Wait for its end, or stop it first.</p>}
      <div class="choices">
        <button type="submit" class="primary" disabled={busy || running}>
          Restore
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
