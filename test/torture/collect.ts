import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { SessionState } from "../../src/runtime/protocol/frames.ts";
import type { ModelMessage } from "../../src/runtime/protocol/model-messages.ts";
import type { Api } from "./api.ts";
import type { SessionEvidence, VersionEntry, WorkspaceEvidence } from "./evidence.ts";

/** The whole log of a session, page by page. */
export async function readLog(api: Api, session: string): Promise<DurableEvent[]> {
  const events: DurableEvent[] = [];
  for (let after: number | null = 0; after !== null;) {
    const path: string = `/v1/sessions/${session}/events?limit=500&after=${after}`;
    const page: { events: DurableEvent[]; next: number | null } = await api.get(path);
    events.push(...page.events);
    after = page.next;
  }
  return events;
}

/** A whole list, page by page. */
export async function readAll<T>(api: Api, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page: { data: T[]; next: string | null } = await api.get(`${path}?limit=200${from}`);
    items.push(...page.data);
    cursor = page.next;
  }
  return items;
}

export async function readSession(
  api: Api,
  known: Pick<SessionEvidence, "account" | "model" | "followers">,
): Promise<SessionEvidence> {
  const { session } = known.account;
  const [log, state, messages] = await Promise.all([
    readLog(api, session),
    api.get<SessionState>(`/v1/sessions/${session}`),
    api.get<{ data: ModelMessage[] }>(`/v1/sessions/${session}/messages`),
  ]);
  return { ...known, log, state, messages: messages.data };
}

/** A workspace with its history and the files that the history names. */
export async function readWorkspace(
  api: Api,
  id: string,
  sessions: readonly SessionEvidence[],
): Promise<WorkspaceEvidence> {
  const versions = await readAll<VersionEntry>(api, `/v1/workspaces/${id}/versions`);
  const files = new Map<string, string>();
  for (const path of new Set(versions.flatMap(({ paths = [] }) => paths))) {
    const reply = await api.call("GET", `/v1/workspaces/${id}/files/${path}`);
    if (reply?.status === 200) files.set(path, String(reply.body));
  }
  return { id, versions: versions.reverse(), files, sessions };
}
