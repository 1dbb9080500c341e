import { Account } from "./account.ts";
import type { Api } from "./api.ts";
import { Driver } from "./driver.ts";
import { Follower } from "./follower.ts";
import type { Frame } from "./follower.ts";
import { People } from "./people.ts";
import { NOTES } from "./plan.ts";
import type { Random } from "./random.ts";
import { SocketClient } from "./socket-client.ts";
import { SseClient } from "./sse-client.ts";

/** The agent of all sessions; see `defineAgent`. */
const AGENT = "torture";

/** An agent with every tool whose effects can be counted, and a policy that lets, asks and refuses. */
export async function defineAgent(api: Api): Promise<void> {
  const tools = ["write_file", "edit_file", "read_file", "grep", "glob", "tree", "ask_user"];
  const under = (folder: string, effect: string) => {
    return { tool: "write_file", when: { path: { startsWith: `${folder}/` } }, effect };
  };
  const body = { id: AGENT, tools, policy: { rules: [under("guarded", "ask"), under("forbidden", "deny")] } };
  await create(api, "/v1/agents", body);
}

/** One session with everybody around it: who drives it, who is asked, who watches. */
export class Crowd {
  readonly account: Account;
  readonly driver: Driver;
  readonly followers: readonly Follower[];
  readonly #clients: readonly (SocketClient | SseClient)[];
  readonly #people: People;
  #running: Promise<unknown> = Promise.resolve();

  constructor(api: Api, account: Account, random: Random, onFrame: (frame: Frame) => void) {
    this.account = account;
    const { session } = account;
    const names = ["socket 1", "socket 2", "sse"];
    this.followers = names.map((name) => new Follower(`${session} ${name}`, onFrame));
    const clients = this.followers.map((follower) => {
      const Client = follower.name.endsWith("sse") ? SseClient : SocketClient;
      return new Client(api.product, session, follower, random.fork(follower.name));
    });
    this.#clients = clients;
    const socket = clients.find((client) => client instanceof SocketClient);
    if (!socket) throw new Error("Nobody is on a WebSocket.");
    this.driver = new Driver(api, account, socket, random.fork("driver"));
    this.#people = new People(api, account, socket, random.fork("people"));
  }

  /** Creates workspace and session, also when the server dies in the middle of it. */
  static async open(
    api: Api,
    names: { readonly session: string; readonly workspace: string },
    random: Random,
    onFrame: (frame: Frame) => void,
  ): Promise<Crowd> {
    const { session, workspace } = names;
    await create(api, "/v1/workspaces", { id: workspace });
    await api.call("PUT", `/v1/workspaces/${workspace}/files/${NOTES}`, { body: "START\nEND\n" });
    await create(api, "/v1/sessions", { id: session, workspace, agent: AGENT });
    return new Crowd(api, new Account(session, workspace), random, onFrame);
  }

  /** Drives the session until `driving` ends; people answer and clients watch until `watching` does. */
  async run(driving: AbortSignal, watching: AbortSignal): Promise<void> {
    watching.addEventListener("abort", () => this.#clients.forEach((client) => client.stop()));
    this.#running = Promise.all([this.#people.run(watching), ...this.#clients.map((client) => client.run())]);
    await this.driver.run(driving);
  }

  /** The clients drop no connection any more. */
  calm(): void {
    for (const client of this.#clients) client.stay();
  }

  /** Resolves when everybody has left. */
  async left(): Promise<void> {
    await this.#running;
  }
}

/** A create that can be repeated. */
async function create(
  api: Api,
  path: string,
  body: Readonly<Record<"id", string> & Record<string, unknown>>,
): Promise<void> {
  const reply = await api.call("POST", path, { body, headers: { "idempotency-key": `create-${body.id}` } });
  if (reply?.status !== 201) throw new Error(`POST ${path}: ${api.told(reply)}`);
}
