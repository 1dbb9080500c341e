import type { VNode } from "preact";
import type { SessionSnapshot } from "../../client/index.ts";
import type { App, AppState } from "../app.ts";
import { connectionText } from "../wording.ts";
import { Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { Problem } from "./problem.tsx";
import { SessionActions } from "./session-actions.tsx";
import { WaitingPrompts } from "./waiting-prompts.tsx";

/** The open session: what was said, what waits, and the box for the next prompt. */
export function ConversationPane({ state, app }: { readonly state: AppState; readonly app: App }): VNode {
  const { session } = state;
  const { session: store, inspector } = app;
  if (!session || !store || !inspector) {
    return (
      <main class="pane conversation">
        <div class="empty">
          <h2>Choose a session, or begin a new one</h2>
          <p class="hint">
            An agent answers questions about the files that you give it, and can change them.
          </p>
          <button type="button" class="primary" onClick={() => void app.createSession()}>
            New session
          </button>
        </div>
      </main>
    );
  }
  const { connection } = session;
  const isGone = connection.status === "ended";
  return (
    <main class="pane conversation">
      <header>
        <h2>{session.state?.title || firstPrompt(session) || "New session"}</h2>
        <span class={`connection ${connection.status}`} role="status">
          {connectionText(connection)}
        </span>
        {connection.status === "waiting" && (
          <button type="button" class="quiet" onClick={() => store.open()}>
            Try now
          </button>
        )}
        <SessionActions session={session} shown={state.inspector?.panel ?? null} store={inspector} />
      </header>
      <Conversation key={session.id} session={session} store={store} inspector={inspector} />
      <footer class="entry-area">
        {session.problem && <Problem error={session.problem} onDismiss={() => store.dismissProblem()} />}
        <WaitingPrompts session={session} store={store} />
        {!isGone && (
          <Composer key={session.id} session={session} draft={state.drafts.get(session.id) ?? ""} app={app} />
        )}
      </footer>
    </main>
  );
}

function firstPrompt({ turns, older }: SessionSnapshot): string {
  if (older !== "none") return "";
  const prompt = turns[0]?.entries.find((entry) => entry.kind === "prompt");
  const text = prompt?.content.find((part) => part.type === "text");
  return text?.text.slice(0, 200) ?? "";
}
