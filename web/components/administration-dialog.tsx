import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Administration, AdministrationPart, AdministrationState } from "../administration.ts";
import { LateView } from "./late-view.tsx";
import { Problem } from "./problem.tsx";

export interface AdministrationProps {
  readonly state: AdministrationState;
  readonly store: Administration;
  /** Begins a session with an agent. */
  readonly onStart: (agent: string) => void;
}

const PARTS: readonly { readonly part: AdministrationPart; readonly label: string }[] = [
  { part: "agents", label: "Agents" },
  { part: "keys", label: "Keys" },
  { part: "usage", label: "Usage" },
];

const loadView = async () => (await import("./administration-view.tsx")).AdministrationView;

/** What an admin does for a tenant. Escape closes it. */
export function AdministrationDialog({
  state,
  store,
  onStart,
  onClose,
}: AdministrationProps & { readonly onClose: () => void }): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const { part, problem, notice } = state;
  return (
    <dialog ref={dialog} class="administration" aria-labelledby="administration-title" onClose={onClose}>
      <header>
        <h2 id="administration-title">Manage</h2>
        <nav class="choices" aria-label="What to manage">
          {PARTS.map(({ part: other, label }) => (
            <button
              key={other}
              type="button"
              class="quiet"
              aria-current={part === other ? "page" : undefined}
              onClick={() => void store.show(other)}
            >
              {label}
            </button>
          ))}
        </nav>
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      {problem && <Problem error={problem} />}
      <p class="hint" role="status">
        {notice ?? ""}
      </p>
      <LateView load={loadView} props={{ state, store, onStart }} />
    </dialog>
  );
}
