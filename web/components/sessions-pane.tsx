import type { VNode } from "preact";
import type { SessionSummary } from "../../client/index.ts";
import type { App, AppState } from "../app.ts";
import { addressOf } from "../address.ts";
import { filtered, isFiltering } from "../session-filter.ts";
import { countText } from "../wording.ts";

const STATUSES = ["all", "idle", "running", "waiting"] as const;
const STATUS_TEXT = { idle: "Idle", running: "Running", waiting: "Waiting" } as const;

/** The sessions of the tenant, newest first. */
export function SessionsPane({ state, app }: { readonly state: AppState; readonly app: App }): VNode {
  const { sessions, moreSessions, creating, session, filter } = state;
  const statusOf = (summary: SessionSummary): SessionSummary["status"] =>
    session?.id === summary.id ? openStatus(state, summary) : summary.status;
  const shown = filtered(sessions ?? [], filter, statusOf);
  return (
    <section class="pane sessions" aria-label="Sessions">
      <header>
        <h1>light-agent</h1>
        <button type="button" class="quiet" onClick={() => app.administer()}>
          Manage
        </button>
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
      {sessions !== null && sessions.length > 0 && (
        <SessionSearch state={state} app={app} found={shown.length} />
      )}
      <ul class="session-list">
        {shown.map((summary) => (
          <li key={summary.id}>
            <SessionLink
              summary={summary}
              status={statusOf(summary)}
              current={session?.id === summary.id}
              onOpen={() => app.show("conversation")}
            />
          </li>
        ))}
      </ul>
      {moreSessions !== null && !state.searching && (
        <button
          type="button"
          class="quiet"
          onClick={() => void (isFiltering(filter) ? app.searchSessions() : app.listMoreSessions())}
        >
          {isFiltering(filter) ? "Search further" : "Show more"}
        </button>
      )}
    </section>
  );
}

interface SessionSearchProps {
  readonly state: AppState;
  readonly app: App;
  readonly found: number;
}

/** Which sessions are shown, and what came of it. */
function SessionSearch({ state, app, found }: SessionSearchProps): VNode {
  const { filter, searching, sessions, moreSessions } = state;
  const listed = countText(sessions?.length ?? 0, "session");
  const of = moreSessions === null ? listed : `the ${listed} searched so far`;
  return (
    <search class="session-search">
      <input
        type="search"
        aria-label="Search sessions"
        placeholder="Search"
        value={filter.text}
        onInput={({ currentTarget }) => void app.filterSessions({ text: currentTarget.value })}
      />
      <select
        aria-label="Status of the sessions"
        value={filter.status}
        onChange={({ currentTarget }) => {
          const status = STATUSES.find((known) => known === currentTarget.value);
          if (status) void app.filterSessions({ status });
        }}
      >
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {status === "all" ? "All" : STATUS_TEXT[status]}
          </option>
        ))}
      </select>
      <p class="hint" role="status">
        {!isFiltering(filter) ? "" : searching ? "Searching…" : `${found} of ${of}`}
      </p>
    </search>
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
