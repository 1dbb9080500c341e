import type { VNode } from "preact";
import type { App, AppState, Pane } from "../app.ts";
import { AdministrationDialog } from "./administration-dialog.tsx";
import { ConversationPane } from "./conversation-pane.tsx";
import { FilesPane } from "./files-pane.tsx";
import { Problem } from "./problem.tsx";
import { SessionPanel } from "./session-panel.tsx";
import { SessionsPane } from "./sessions-pane.tsx";
import { SignIn } from "./sign-in.tsx";

const PANES: readonly { readonly pane: Pane; readonly label: string }[] = [
  { pane: "sessions", label: "Sessions" },
  { pane: "conversation", label: "Conversation" },
  { pane: "files", label: "Files" },
];

/** The whole page. */
export function AppView({ state, app }: { readonly state: AppState; readonly app: App }): VNode {
  if (state.access !== "signed_in") return <SignIn state={state} app={app} />;
  return (
    <div class="workbench" data-pane={state.pane} data-beside={state.inspector?.panel?.kind}>
      <nav class="panes" aria-label="Parts of the page">
        {PANES.map(({ pane, label }) => (
          <button
            key={pane}
            type="button"
            aria-current={state.pane === pane ? "page" : undefined}
            onClick={() => app.show(pane)}
          >
            {label}
          </button>
        ))}
      </nav>
      {state.problem && <Problem error={state.problem} onDismiss={() => app.dismissProblem()} />}
      <SessionsPane state={state} app={app} />
      <ConversationPane state={state} app={app} />
      <FilesPane state={state} app={app} />
      {state.administration && app.administration && (
        <AdministrationDialog
          state={state.administration}
          store={app.administration}
          onStart={(agent) => {
            app.closeAdministration();
            void app.createSession({ agent });
          }}
          onClose={() => app.closeAdministration()}
        />
      )}
      <SessionPanel key={state.inspector?.panel?.kind} state={state} app={app} />
    </div>
  );
}
