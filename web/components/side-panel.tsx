import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { InspectorState, SessionInspector } from "../session-inspector.ts";
import { Problem } from "./problem.tsx";

interface SidePanelProps {
  readonly title: string;
  readonly state: InspectorState;
  readonly store: SessionInspector;
  readonly children: ComponentChildren;
}

/** What stands beside the conversation, or over it where there is no room. Escape closes it, and gives the focus back. */
export function SidePanel({ title, state, store, children }: SidePanelProps): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    heading.current?.focus();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <section
      class="pane side-panel"
      aria-labelledby="panel-title"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.isComposing) store.close();
      }}
    >
      <header>
        <h2 id="panel-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="quiet" onClick={() => store.close()}>
          Close
        </button>
      </header>
      {state.problem && <Problem error={state.problem} />}
      <p class="hint" role="status">
        {state.notice}
      </p>
      {children}
    </section>
  );
}
