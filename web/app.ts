import { Observable } from "../client/index.ts";
import type {
  NewSession,
  RestClient,
  SessionSnapshot,
  SessionStore,
  SessionSummary,
} from "../client/index.ts";
import { toErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";
import type { PromptMode } from "../src/runtime/protocol/frames.ts";
import { addressOf, readAddress } from "./address.ts";
import { Administration } from "./administration.ts";
import type { AdministrationState } from "./administration.ts";
import { SessionInspector } from "./session-inspector.ts";
import type { InspectorState } from "./session-inspector.ts";
import { WorkspaceFiles } from "./workspace-files.ts";
import type { FilesState } from "./workspace-files.ts";
import { NO_FILTER, filtered, isFiltering } from "./session-filter.ts";
import type { SessionFilter } from "./session-filter.ts";

/** The part of the page that a narrow screen shows. */
export type Pane = "sessions" | "conversation" | "files";

export interface AppState {
  readonly access: "signed_out" | "checking" | "signed_in";
  /** Why somebody is signed out, or what has failed last. */
  readonly problem: ErrorBody | null;
  /** Null until they are known. */
  readonly sessions: readonly SessionSummary[] | null;
  /** The cursor of the sessions that are not listed yet. */
  readonly moreSessions: string | null;
  readonly filter: SessionFilter;
  /** Whether further sessions are looked for that the filter leaves. */
  readonly searching: boolean;
  readonly creating: boolean;
  readonly session: SessionSnapshot | null;
  readonly files: FilesState | null;
  readonly inspector: InspectorState | null;
  /** What an admin looks at; null while nobody does. */
  readonly administration: AdministrationState | null;
  readonly pane: Pane;
  /** Prompts that are being written, by session. */
  readonly drafts: ReadonlyMap<string, string>;
}

export interface AppOptions {
  readonly rest: (credential: string) => RestClient;
  readonly openSession: (session: string, credential: string, rest: RestClient) => SessionStore;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly location: Pick<Location, "hash">;
  readonly history: Pick<History, "replaceState">;
}

const KEY = "light-agent.key";
const TITLE_LENGTH = 80;
/** A search goes on until it has found so many sessions, or has asked so often. */
const FOUND_AT_ONCE = 20;
const ASKED_AT_ONCE = 10;

const SIGNED_OUT: AppState = {
  access: "signed_out",
  problem: null,
  sessions: null,
  moreSessions: null,
  filter: NO_FILTER,
  searching: false,
  creating: false,
  session: null,
  files: null,
  inspector: null,
  administration: null,
  pane: "conversation",
  drafts: new Map(),
};

/** The page as one value, and all that a person can do with it. */
export class App extends Observable<AppState> {
  readonly #options: AppOptions;
  #credential = "";
  #rest: RestClient | null = null;
  #session: SessionStore | null = null;
  #files: WorkspaceFiles | null = null;
  #inspector: SessionInspector | null = null;
  #administration: Administration | null = null;
  /** All that have been opened, so that an upload goes on while another session is looked at. */
  readonly #workspaces = new Map<string, WorkspaceFiles>();
  #release: (() => void)[] = [];

  constructor(options: AppOptions) {
    super(SIGNED_OUT);
    this.#options = options;
  }

  /** The open session; null without one. */
  get session(): SessionStore | null {
    return this.#session;
  }

  /** The files of the open session's workspace; null until it is known. */
  get files(): WorkspaceFiles | null {
    return this.#files;
  }

  /** What can be looked at of the open session; null without one. */
  get inspector(): SessionInspector | null {
    return this.#inspector;
  }

  /** Does what the address says: signs in with its key, which it then loses, and opens its session. */
  followAddress(): void {
    const { key, session } = readAddress(this.#options.location.hash);
    if (key !== null) this.#options.history.replaceState(null, "", addressOf(session));
    const kept = this.#options.storage.getItem(KEY);
    if (key !== null && key !== this.#credential) void this.signIn(key);
    else if (this.value.access === "signed_in") this.#open(session);
    else if (kept !== null && this.value.access === "signed_out") void this.signIn(kept);
  }

  async signIn(credential: string): Promise<void> {
    this.#forget();
    this.change({ ...SIGNED_OUT, access: "checking" });
    this.#credential = credential;
    this.#rest = this.#options.rest(credential);
    const page = await this.#ask((rest) => rest.sessions());
    if (!page) return;
    this.#options.storage.setItem(KEY, credential);
    this.change({ access: "signed_in", sessions: page.data, moreSessions: page.next });
    this.#open(readAddress(this.#options.location.hash).session);
  }

  signOut(): void {
    this.#forget();
    this.#options.storage.removeItem(KEY);
    this.change(SIGNED_OUT);
    this.#options.history.replaceState(null, "", addressOf(null));
  }

  /** The page is looked at again, or the network is back. */
  wake(): void {
    this.#session?.open();
    void this.#files?.refresh();
    void this.refreshSessions();
  }

  /** Creates a session, with the default agent and a workspace of its own unless others are named, and opens it. */
  async createSession(of: Pick<NewSession, "workspace" | "agent"> = {}): Promise<void> {
    if (this.value.creating) return;
    this.change({ creating: true, problem: null });
    const session = await this.#ask((rest) => rest.createSession(of));
    this.change({ creating: false });
    if (!session) return;
    this.goTo(session.id);
    await this.refreshSessions();
  }

  /** Opens a session by way of the address, so that the browser's back button works. */
  goTo(session: string): void {
    this.change({ pane: "conversation" });
    this.#options.location.hash = addressOf(session);
  }

  show(pane: Pane): void {
    // Where there is no room, what is beside the conversation stands over it.
    if (pane === "conversation") this.#inspector?.close();
    this.change({ pane });
  }

  draft(text: string): void {
    const id = this.value.session?.id;
    if (id !== undefined) this.change({ drafts: new Map(this.value.drafts).set(id, text) });
  }

  /** Sends what was written. A session without a title is named after its first prompt. */
  send(text: string, mode: PromptMode): void {
    const session = this.#session;
    if (!session || text.trim() === "") return;
    const isNew = session.value.state?.title === "" && session.value.turns.length === 0;
    session.send(text, mode);
    this.draft("");
    if (isNew) void this.#name(session.value.id, text);
  }

  async refreshSessions(): Promise<void> {
    const page = await this.#ask((rest) => rest.sessions());
    if (!page) return;
    const { sessions, moreSessions } = this.value;
    // What had been listed beyond the first part stays listed.
    const first = new Set(page.data.map(({ id }) => id));
    const oldest = page.data.at(-1)?.createdAt ?? 0;
    const others = (sessions ?? []).filter(({ id, createdAt }) => !first.has(id) && createdAt < oldest);
    const kept = page.next === null ? [] : others;
    this.change({
      sessions: [...page.data, ...kept],
      moreSessions: kept.length > 0 ? moreSessions : page.next,
    });
  }

  async listMoreSessions(): Promise<void> {
    const { moreSessions } = this.value;
    if (moreSessions === null) return;
    const page = await this.#ask((rest) => rest.sessions({ cursor: moreSessions }));
    if (!page) return;
    const known = this.value.sessions ?? [];
    const added = page.data.filter(({ id }) => !known.some((session) => session.id === id));
    this.change({ sessions: [...known, ...added], moreSessions: page.next });
  }

  /** Shows some sessions only, and looks for further ones of these. */
  async filterSessions(changed: Partial<SessionFilter>): Promise<void> {
    this.change({ filter: { ...this.value.filter, ...changed } });
    await this.searchSessions();
  }

  /** Lists further sessions until enough are found that the filter leaves, or enough have been asked for. */
  async searchSessions(): Promise<void> {
    const { filter, searching } = this.value;
    if (searching || !isFiltering(filter)) return;
    const found = (): number => filtered(this.value.sessions ?? [], this.value.filter).length;
    const enough = found() < FOUND_AT_ONCE ? FOUND_AT_ONCE : found() + 1;
    this.change({ searching: true });
    for (let asked = 0; asked < ASKED_AT_ONCE && found() < enough; asked += 1) {
      const { moreSessions } = this.value;
      if (moreSessions === null || !isFiltering(this.value.filter)) break;
      await this.listMoreSessions();
      // It could not be asked: the problem is shown.
      if (this.value.moreSessions === moreSessions) break;
    }
    this.change({ searching: false });
  }

  get administration(): Administration | null {
    return this.#administration;
  }

  /** Opens what an admin does for the tenant, where it was left. */
  administer(): void {
    if (!this.#rest || this.value.administration) return;
    const administration = this.#administration ?? new Administration(this.#rest, Date.now);
    if (!this.#administration) {
      this.#administration = administration;
      administration.subscribe(() => {
        if (this.#administration !== administration || !this.value.administration) return;
        this.change({ administration: administration.value });
      });
    }
    this.change({ administration: administration.value });
    void administration.show(administration.value.part);
  }

  closeAdministration(): void {
    this.change({ administration: null });
    this.#administration?.leave();
  }

  dismissProblem(): void {
    this.change({ problem: null });
  }

  async #name(session: string, text: string): Promise<void> {
    const line = text.trim().replaceAll(/\s+/g, " ").slice(0, TITLE_LENGTH);
    // A cut through a surrogate pair leaves half of it.
    const title = line.replace(/[\ud800-\udbff]$/, "").toWellFormed();
    // A session without a name is a smaller evil than a message about it.
    await this.#rest?.changeSession(session, { title }).catch(() => undefined);
    await this.refreshSessions();
  }

  #open(id: string | null): void {
    if (id === (this.#session?.value.id ?? null)) return;
    this.#closeSession();
    if (id === null || !this.#rest) return;
    const session = this.#options.openSession(id, this.#credential, this.#rest);
    this.#session = session;
    const inspector = new SessionInspector(this.#rest, id);
    this.#inspector = inspector;
    this.#release.push(session.subscribe(() => this.#follow(session.value)));
    this.#release.push(inspector.subscribe(() => this.change({ inspector: inspector.value })));
    session.open();
  }

  #follow(session: SessionSnapshot): void {
    const before = this.value.session;
    this.change({ session });
    const { connection, state } = session;
    if (connection.status === "ended" && connection.error?.code === "unauthorized") {
      return this.#lockOut(connection.error);
    }
    if (state && !this.#files) this.#openFiles(state.workspace);
    const events = session.view.events.slice(before?.view.events.length ?? 0);
    this.#inspector?.follow(events);
    const changesFiles = events.some((event) => event.type === "tool_result" && event.workspaceVersion);
    if (changesFiles && connection.status === "live") void this.#files?.refresh();
    const isOver = events.some(({ type }) => type === "agent_stop") && connection.status === "live";
    if (isOver) void this.refreshSessions();
  }

  #openFiles(workspace: string): void {
    if (!this.#rest) return;
    const files = this.#workspaces.get(workspace) ?? new WorkspaceFiles(this.#rest, workspace);
    this.#workspaces.set(workspace, files);
    this.#files = files;
    this.#release.push(files.subscribe(() => this.change({ files: files.value })));
    this.change({ files: files.value });
    void files.refresh();
  }

  #closeSession(): void {
    for (const release of this.#release.splice(0)) release();
    this.#session?.close();
    this.#session = null;
    this.#files = null;
    this.#inspector = null;
    this.change({ session: null, files: null, inspector: null });
  }

  #forget(): void {
    this.#closeSession();
    for (const files of this.#workspaces.values()) files.close();
    this.#workspaces.clear();
    this.#administration = null;
    this.#credential = "";
    this.#rest = null;
  }

  /** What the server answers; null when it refuses, which is then told, or when somebody else is signed in by now. */
  async #ask<T>(call: (rest: RestClient) => Promise<T>): Promise<T | null> {
    const rest = this.#rest;
    if (!rest) return null;
    try {
      const answer = await call(rest);
      return rest === this.#rest ? answer : null;
    } catch (caught) {
      if (rest === this.#rest) this.#report(toErrorBody(caught));
      return null;
    }
  }

  #lockOut(problem: ErrorBody): void {
    this.signOut();
    this.change({ problem });
  }

  #report(problem: ErrorBody): void {
    const isIn = this.value.access === "signed_in";
    if (problem.code === "unauthorized" || !isIn) this.#lockOut(problem);
    else this.change({ problem });
  }
}
