import type { VNode } from "preact";
import type { SessionSummary } from "../../client/index.ts";
import type { App, AppState } from "../app.ts";
import { addressOf } from "../address.ts";

const STATUS_TEXT = { idle: "Idle", running: "Running", waiting: "Waiting" } as const;

/** The sessions of the tenant, newest first. */
export function SessionsPane({ state, app }: { readonly state: AppState; readonly app: App }): VNode {
  const { sessions, moreSessions, creating, session } = state;
  return (
    <section class="pane sessions" aria-label="Sessions">
      <header>
        <h1>light-agent</h1>
        <button type="button" class="quiet" onClick={() => app.signOut()}>
          Sign out
        </button>
      </header>
      <button type="button" class="primary" disabled={creating} onClick={() => void app.createSession()}>
        {creating ? "Creating…" : "New session"}
      </button>
      {sessions?.length === 0 && (
        <p class="hint">
          No session yet. A session is one conversation with an agent, with files of its own.
        </p>
      )}
      <ul class="session-list">
        {sessions?.map((summary) => (
          <li key={summary.id}>
            <SessionLink
              summary={summary}
              status={session?.id === summary.id ? openStatus(state, summary) : summary.status}
              current={session?.id === summary.id}
              onOpen={() => app.show("conversation")}
            />
          </li>
        ))}
      </ul>
      {moreSessions !== null && (
        <button type="button" class="quiet" onClick={() => void app.listMoreSessions()}>
          Show more
        </button>
      )}
    </section>
  );
}

/** The open session is known better than the list knows it. */
function openStatus({ session }: AppState, summary: SessionSummary): SessionSummary["status"] {
  const last = session?.turns.at(-1);
  if (!last) return summary.status;
  if (!last.running) return "idle";
  const open = last.entries.filter((entry) => entry.kind === "call" && entry.result === null);
  const isAsking =
    open.length > 0 && open.every((entry) => entry.kind === "call" && entry.status === "asking");
  return isAsking ? "waiting" : "running";
}

interface SessionLinkProps {
  readonly summary: SessionSummary;
  readonly status: SessionSummary["status"];
  readonly current: boolean;
  readonly onOpen: () => void;
}

function SessionLink({ summary, status, current, onOpen }: SessionLinkProps): VNode {
  const { id, title, agent, updatedAt } = summary;
  return (
    <a href={addressOf(id)} aria-current={current ? "page" : undefined} onClick={onOpen}>
      <span class="title">{title || "New session"}</span>
      <span class="detail">
        <span class={`status ${status}`}>{STATUS_TEXT[status]}</span>
        <span>{agent}</span>
        <time dateTime={new Date(updatedAt).toISOString()}>{timeText(updatedAt)}</time>
      </span>
    </a>
  );
}

function timeText(at: number): string {
  const then = new Date(at);
  return then.toDateString() === new Date().toDateString()
    ? then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : then.toLocaleDateString([], { month: "short", day: "numeric" });
}
