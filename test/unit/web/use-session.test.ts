// @vitest-environment happy-dom
import { h, render as renderPreact } from "preact";
import { act as actPreact } from "preact/test-utils";
import { StrictMode, act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { beforeEach, describe, expect, it } from "vitest";
import { useSession as usePreactSession } from "../../../client/preact.ts";
import { useSession as useReactSession } from "../../../client/react.ts";
import type { SessionStoreOptions } from "../../../client/session-store.ts";
import type { UsedSession } from "../../../client/use-session.ts";
import type { AgentEvent } from "../../../src/runtime/protocol/events.ts";
import type { ServerFrame } from "../../../src/runtime/protocol/frames.ts";
import { FakeSockets, hello, live, sessionState } from "../support/fake-sockets.ts";
import { FakeTime } from "../support/fake-time.ts";
import { logOf } from "../support/log-builder.ts";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

let sockets: FakeSockets;
let time: FakeTime;
let last: UsedSession | null;
/** What has been drawn, so that a test sees what was there between two settled states. */
let drawn: string[];
let isRenewed: boolean;

beforeEach(() => {
  sockets = new FakeSockets();
  time = new FakeTime();
  last = null;
  drawn = [];
  isRenewed = false;
});

const options = (session: string): SessionStoreOptions => ({
  url: "http://agents.test",
  credential: isRenewed ? () => "token" : "key",
  session,
  rest: {
    session: () => Promise.resolve(sessionState()),
    queue: () => Promise.resolve({ data: [], next: null }),
    checkpoints: () => Promise.reject(new Error("not expected")),
    events: () => Promise.reject(new Error("not expected")),
  },
  openWebSocket: sockets.open,
  timers: time,
  random: () => 0,
});

/** What a component shows: the session, how it stands, and the model's text, settled and live. */
function shown(used: UsedSession): string {
  last = used;
  const { id, connection, turns, view } = used.snapshot;
  const settled = turns.flatMap(({ entries }) =>
    entries.flatMap((entry) => (entry.kind === "output" ? entry.text : [])),
  );
  const text = `${id} ${connection.status}: ${[...settled, ...view.blocks.map((block) => block.text)].join("|")}`;
  drawn.push(text);
  return text;
}

const ReactView = ({ session }: { session: string }): string => shown(useReactSession(options(session)));
const PreactView = ({ session }: { session: string }) => shown(usePreactSession(options(session)));

/** A component on a page. */
interface Mounted {
  readonly text: () => string;
  /** Does something, and lets the library finish what follows. */
  readonly step: (work: () => void | Promise<void>) => Promise<void>;
  readonly show: (session: string) => Promise<void>;
  readonly unmount: () => Promise<void>;
}

async function mountReact(session: string, strict: boolean): Promise<Mounted> {
  const element = document.createElement("div");
  const root = createRoot(element);
  const step = (work: () => void | Promise<void>): Promise<void> =>
    act(async () => {
      await work();
    });
  const show = (id: string): Promise<void> => {
    const view = createElement(ReactView, { session: id });
    return step(() => root.render(strict ? createElement(StrictMode, null, view) : view));
  };
  await show(session);
  return { text: () => element.textContent, step, show, unmount: () => step(() => root.unmount()) };
}

async function mountPreact(session: string): Promise<Mounted> {
  const element = document.createElement("div");
  const step = (work: () => void | Promise<void>): Promise<void> =>
    actPreact(async () => {
      await work();
    });
  const show = (id: string): Promise<void> =>
    step(() => renderPreact(h(PreactView, { session: id }), element));
  await show(session);
  return {
    text: () => element.textContent,
    step,
    show,
    unmount: () => step(() => renderPreact(null, element)),
  };
}

const LIBRARIES = [
  { library: "React", mount: (session: string) => mountReact(session, false) },
  { library: "React in strict mode", mount: (session: string) => mountReact(session, true) },
  { library: "Preact", mount: mountPreact },
];

const place = { turn: 1, step: 1, attempt: 1, block: 0 } as const;
const delta = (offset: number, text: string): AgentEvent => ({ type: "text_delta", ...place, offset, text });
const LOG = logOf(["input"], ["output", { ...place, text: "hello world" }], ["agent_trace"], ["agent_stop"]);

/** The server's part at the beginning of a connection. */
function serve(head: number, ...frames: readonly (ServerFrame | AgentEvent)[]): void {
  sockets.last.accept();
  const missing = LOG.slice(sockets.last.after, head);
  sockets.last.tell(
    hello({ head }),
    ...(missing.length > 0 ? [{ type: "events", events: missing } as const] : []),
  );
  sockets.last.tell(...(frames.length > 0 ? frames : [live(head)]));
}

describe.each(LIBRARIES)("useSession of $library", ({ mount }) => {
  it("[CLIENT-7] keeps the connection when its credential is another function each time", async () => {
    isRenewed = true;
    const page = await mount("s");
    const before = sockets.opened.length;
    await page.step(() => serve(1, live(1), delta(0, "hel")));
    await page.show("s");
    expect(page.text()).toBe("s live: hel");
    expect(sockets.opened).toHaveLength(before);
    await page.unmount();
  });

  it("[CLIENT-7] shows the session, and its text once whatever becomes of the connection", async () => {
    const page = await mount("s");
    expect(page.text()).toBe("s connecting: ");
    await page.step(() => serve(1));
    await page.step(() => sockets.last.tell(delta(0, "hel"), delta(3, "lo")));
    expect(page.text()).toBe("s live: hello");
    await page.step(() => sockets.last.drop());
    expect(page.text()).toBe("s waiting: hello");
    await page.step(() => time.pass(20_000));
    const partial = [{ ...place, kind: "text", text: "hello wor" } as const];
    await page.step(() => serve(1, { type: "live", head: 1, partial }, delta(3, "lo wor"), delta(9, "ld")));
    expect(page.text()).toBe("s live: hello world");
    await page.step(() => sockets.last.tell({ type: "events", events: LOG.slice(1) }));
    expect(page.text()).toBe("s live: hello world");
    await page.unmount();
  });

  it("[CLIENT-7] leaves one connection while mounted, and none afterwards", async () => {
    const page = await mount("s");
    const open = (): number => sockets.opened.filter(({ closed }) => !closed).length;
    expect(open()).toBe(1);
    await page.step(() => serve(4));
    await page.unmount();
    expect([open(), time.pending]).toEqual([0, 0]);
  });

  it("[CLIENT-7] never shows a session under another's name", async () => {
    const page = await mount("s");
    await page.step(() => serve(4));
    expect(page.text()).toBe("s live: hello world");
    const before = sockets.last;
    drawn = [];
    await page.show("t");
    expect(before.closed).toBe(true);
    expect(sockets.last.url.pathname).toBe("/v1/sessions/t/ws");
    expect(page.text()).toBe("t connecting: ");
    expect(drawn.filter((text) => text.startsWith("t") && text.includes("hello"))).toEqual([]);
    await page.show("t");
    expect(sockets.opened.filter(({ closed }) => !closed)).toHaveLength(1);
    await page.unmount();
  });

  it("[CLIENT-7] gives the store, with which a person acts", async () => {
    const page = await mount("s");
    await page.step(() => serve(0));
    await page.step(() => last?.store.send("hi", "queue"));
    expect(sockets.last.frames).toMatchObject([{ type: "prompt", text: "hi", mode: "queue" }]);
    expect(last?.snapshot.unsent).toMatchObject([{ text: "hi" }]);
    await page.unmount();
  });
});

it("[CLIENT-7] on a server, useSession connects to nothing", () => {
  expect(renderToString(createElement(ReactView, { session: "s" }))).toBe("s idle: ");
  expect(sockets.opened).toEqual([]);
});
