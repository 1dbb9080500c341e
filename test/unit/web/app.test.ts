import { beforeEach, describe, expect, it } from "vitest";
import { SessionStore } from "../../../client/index.ts";
import type { PageQuery, RestClient, SessionSummary } from "../../../client/index.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import { CLOSE } from "../../../src/runtime/protocol/websocket.ts";
import { App } from "../../../web/app.ts";
import { FakeSockets, hello, live, sessionState } from "../support/fake-sockets.ts";
import { FakeTime, settled } from "../support/fake-time.ts";
import { logOf } from "../support/log-builder.ts";

const summary = (id: string, createdAt: number): SessionSummary => ({ ...sessionState({ id, createdAt }) });

let sockets: FakeSockets;
let kept: Map<string, string>;
let location: { hash: string };
let calls: string[];
/** The sessions of the server, newest first, and how many of them a page has. */
let sessions: SessionSummary[];
let pageSize: number;
let accepted: string;
/** What answers to the first key wait for. */
let gate: Promise<unknown>;
let app: App;

/** A server that knows one key. */
function serverOf(credential: string): RestClient {
  const checked = async <T>(name: string, value: T): Promise<T> => {
    calls.push(name);
    if (credential === "good") await gate;
    if (credential !== accepted) throw new LightAgentError("unauthorized", "A valid credential is needed.");
    return value;
  };
  const rest = {
    sessions: ({ cursor = null }: PageQuery = {}) => {
      const from = Number(cursor ?? 0);
      const next = from + pageSize < sessions.length ? String(from + pageSize) : null;
      return checked("sessions", { data: sessions.slice(from, from + pageSize), next });
    },
    createSession: ({ workspace = "own" }) => {
      sessions = [summary("new", 99), ...sessions];
      return checked(`create ${workspace}`, sessionState({ id: "new", workspace }));
    },
    changeSession: (id: string, { title }: { title: string }) =>
      checked(`rename ${id} ${title}`, sessionState()),
    session: (id: string) => checked(`session ${id}`, sessionState({ id })),
    listFolder: (workspace: string) => checked(`list ${workspace}`, { entries: [], omitted: 0 }),
  };
  return rest as unknown as RestClient;
}

beforeEach(() => {
  sockets = new FakeSockets();
  kept = new Map();
  location = { hash: "" };
  calls = [];
  sessions = [summary("b", 2), summary("a", 1)];
  pageSize = 50;
  accepted = "good";
  gate = Promise.resolve();
  app = new App({
    rest: serverOf,
    openSession: (session, credential, rest) =>
      new SessionStore({
        url: "http://agents.test",
        credential,
        session,
        rest,
        openWebSocket: sockets.open,
        timers: new FakeTime(),
        random: () => 0,
      }),
    storage: {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => void kept.set(name, value),
      removeItem: (name) => void kept.delete(name),
    },
    location,
    history: { replaceState: (_data, _title, address) => void (location.hash = String(address)) },
  });
});

async function at(hash: string): Promise<void> {
  location.hash = hash;
  app.followAddress();
  await settled();
}

function serve(head = 0): void {
  sockets.last.accept();
  sockets.last.tell(hello({ head }), { type: "events", events: logOf(["input"]).slice(0, head) }, live(head));
}

describe("signing in", () => {
  it("[WEB-1] by link takes the key out of the address and keeps it for the tab", async () => {
    await at("#key=good");
    expect(app.value).toMatchObject({ access: "signed_in", problem: null });
    expect(location.hash).toBe("#");
    expect([...kept.values()]).toEqual(["good"]);
  });

  it("[WEB-1] by link opens the session that it names", async () => {
    await at("#key=good&session=a");
    expect(location.hash).toBe("#session=a");
    expect(app.value.session?.id).toBe("a");
  });

  it("[WEB-1] is not needed again after a reload", async () => {
    kept.set("light-agent.key", "good");
    await at("#session=a");
    expect(app.value).toMatchObject({ access: "signed_in", session: { id: "a" } });
  });

  it("[WEB-1] with a refused key says so and keeps nothing", async () => {
    await at("#key=bad");
    expect(app.value).toMatchObject({ access: "signed_out", problem: { code: "unauthorized" } });
    expect(kept.size).toBe(0);
    await app.signIn("good");
    expect(app.value).toMatchObject({ access: "signed_in", problem: null });
  });

  it("[WEB-1] ends with a key that stops working, and says so", async () => {
    await at("#key=good");
    accepted = "another";
    await app.refreshSessions();
    expect(app.value).toMatchObject({
      access: "signed_out",
      problem: { code: "unauthorized" },
      sessions: null,
    });
    expect(kept.size).toBe(0);
  });

  it("[WEB-1] ends with a socket whose key was revoked", async () => {
    await at("#key=good&session=a");
    serve();
    sockets.last.drop(CLOSE.credential);
    expect(app.value).toMatchObject({
      access: "signed_out",
      problem: { code: "unauthorized" },
      session: null,
    });
  });

  it("[WEB-1] ends with signing out, which leaves nothing behind", async () => {
    await at("#key=good&session=a");
    serve();
    app.signOut();
    expect(app.value).toMatchObject({ access: "signed_out", problem: null, sessions: null, session: null });
    expect(sockets.last.closed).toBe(true);
    expect(kept.size).toBe(0);
    expect(location.hash).toBe("#");
  });
});

describe("sessions", () => {
  const ids = (): string[] | undefined => app.value.sessions?.map(({ id }) => id);

  it("[WEB-28] looks for sessions that are not listed yet until enough are found or it has asked often", async () => {
    pageSize = 2;
    sessions = Array.from({ length: 60 }, (_, at) => ({
      ...summary(`s${at}`, 60 - at),
      title: at % 30 === 29 ? "the needle" : "hay",
    }));
    await app.signIn("good");
    const asked = (): number => calls.filter((call) => call === "sessions").length;
    const before = asked();
    await app.filterSessions({ text: "needle", status: "all" });
    // Ten pages of two, and then a person decides.
    expect([asked() - before, app.value.sessions?.length, app.value.searching]).toEqual([10, 22, false]);
    await app.searchSessions();
    expect(app.value.sessions?.filter(({ title }) => title === "the needle")).toHaveLength(1);
    await app.searchSessions();
    await app.searchSessions();
    expect(app.value.sessions?.filter(({ title }) => title === "the needle")).toHaveLength(2);
    expect(app.value.moreSessions).toBeNull();
    const all = asked();
    await app.filterSessions({ text: "", status: "all" });
    await app.filterSessions({ text: "hay" });
    await app.filterSessions({ status: "running" });
    expect(app.value.filter).toEqual({ text: "hay", status: "running" });
    expect(asked()).toBe(all);
  });

  it("[WEB-2] are listed, in parts, and what is listed stays when they are listed again", async () => {
    pageSize = 2;
    sessions = [summary("c", 3), ...sessions];
    await at("#key=good");
    expect(ids()).toEqual(["c", "b"]);
    await app.listMoreSessions();
    expect(ids()).toEqual(["c", "b", "a"]);
    expect(app.value.moreSessions).toBeNull();
    sessions = [summary("d", 4), ...sessions];
    await app.refreshSessions();
    expect(ids()).toEqual(["d", "c", "b", "a"]);
    expect(app.value.moreSessions).toBeNull();
  });

  it("[WEB-2] are created and opened, with the files of another where that is wished", async () => {
    await at("#key=good");
    await app.createSession({ workspace: "shared" });
    expect(calls).toContain("create shared");
    expect(location.hash).toBe("#session=new");
    expect(ids()).toEqual(["new", "b", "a"]);
  });

  it("[WEB-2] follow the address: one is open at a time", async () => {
    await at("#key=good&session=a");
    serve();
    const first = sockets.last;
    await at("#session=b");
    expect(first.closed).toBe(true);
    expect(app.value.session?.id).toBe("b");
    await at("#");
    expect(app.value.session).toBeNull();
  });

  it("[WEB-2] get their title from the first prompt", async () => {
    await at("#key=good&session=a");
    serve();
    app.draft(`  Where is\n x? ${"y".repeat(100)}`);
    app.send(app.value.drafts.get("a") ?? "", "queue");
    await settled();
    expect(calls.find((call) => call.startsWith("rename"))).toBe(`rename a Where is x? ${"y".repeat(68)}`);
    expect(app.value.drafts.get("a")).toBe("");
    expect(sockets.last.frames).toHaveLength(1);
  });

  it("[WEB-2] keep the title that they have, and send no empty prompt", async () => {
    await at("#key=good&session=a");
    serve(1);
    app.send("  \n", "queue");
    expect(sockets.last.sent).toEqual([]);
    app.send("and now?", "queue");
    await settled();
    expect(calls.some((call) => call.startsWith("rename"))).toBe(false);
  });

  it("[WEB-2] that cannot be created say why", async () => {
    await at("#key=good");
    accepted = "another";
    await app.createSession();
    expect(app.value).toMatchObject({ creating: false, problem: { code: "unauthorized" } });
  });
});

describe("answers that come late", () => {
  it.each(["good", "revoked"])(
    "[WEB-1] for somebody who has signed out are dropped (key %s)",
    async (key) => {
      await at("#key=good");
      let open = (): void => undefined;
      gate = new Promise<void>((resolve) => (open = resolve));
      const listing = app.refreshSessions();
      app.signOut();
      accepted = "other";
      sessions = [summary("theirs", 5)];
      await app.signIn("other");
      if (key === "good") accepted = "good";
      open();
      await listing;
      expect(app.value).toMatchObject({ access: "signed_in", problem: null, sessions: [{ id: "theirs" }] });
    },
  );
});

describe("the files of a session", () => {
  it("[WEB-3] go on being uploaded while another session is looked at", async () => {
    await at("#key=good&session=a");
    serve();
    const files = app.files;
    expect(files).not.toBeNull();
    await at("#session=b");
    await at("#session=a");
    serve();
    expect(app.files).toBe(files);
  });

  it("[WEB-11] are listed once its workspace is known, and again when a tool has changed them", async () => {
    await at("#key=good&session=a");
    serve(1);
    await settled();
    const lists = (): number => calls.filter((call) => call === "list w").length;
    expect(lists()).toBe(1);
    const results = logOf(["input"], ["tool_result"], ["tool_result", { workspaceVersion: 2 }]);
    sockets.last.tell({ type: "events", events: results.slice(1, 2) });
    await settled();
    expect(lists()).toBe(1);
    sockets.last.tell({ type: "events", events: results.slice(2) });
    await settled();
    expect(lists()).toBe(2);
  });
});

describe("what is beside the conversation", () => {
  it("[WEB-26] is the session's own, and closes for the conversation", async () => {
    await at("#key=good&session=a");
    serve();
    app.inspector?.show({ kind: "context" });
    expect(app.value.inspector?.panel).toEqual({ kind: "context" });
    app.show("files");
    expect(app.value.inspector?.panel).toEqual({ kind: "context" });
    app.show("conversation");
    expect(app.value.inspector?.panel).toBeNull();
    app.inspector?.show({ kind: "context" });
    await at("#session=b");
    expect(app.value.inspector?.panel ?? null).toBeNull();
    app.signOut();
    expect([app.inspector, app.value.inspector]).toEqual([null, null]);
  });
});
