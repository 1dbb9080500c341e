import { Observable } from "../client/index.ts";
import type {
  AgentVersion,
  ApiKey,
  CreatedApiKey,
  Page,
  PageQuery,
  RestClient,
  UsageSum,
} from "../client/index.ts";
import type { AgentDefinition } from "../src/runtime/protocol/agent-definition.ts";
import { LightAgentError, toErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";
import { addUsage } from "../src/runtime/protocol/usage.ts";

export type AdministrationPart = "agents" | "keys" | "usage";

/** An agent that is looked at: its versions, newest first, and what is written in its editor. */
export interface ShownAgent {
  readonly id: string;
  readonly versions: readonly AgentVersion[];
  readonly version: number;
  readonly text: string;
}

export interface AdministrationState {
  readonly part: AdministrationPart;
  /** What is not known yet is null. */
  readonly agents: readonly AgentVersion[] | null;
  readonly agent: ShownAgent | null;
  readonly keys: readonly ApiKey[] | null;
  /** A key that was just made: its text is known this once. */
  readonly created: CreatedApiKey | null;
  readonly usage: readonly UsageSum[] | null;
  readonly busy: boolean;
  /** What has failed, until something else is asked for. */
  readonly problem: ErrorBody | null;
  readonly notice: string | null;
}

type Calls = Pick<
  RestClient,
  "agents" | "agentVersions" | "changeAgent" | "createAgent" | "keys" | "createKey" | "deleteKey" | "usage"
>;

const DAY_MS = 24 * 60 * 60_000;
const USAGE_DAYS = 30;
const PAGE_SIZE = 200;

/** What an admin does for a tenant: agents and their versions, keys, usage. */
export class Administration extends Observable<AdministrationState> {
  readonly #rest: Calls;
  readonly #clock: () => number;

  constructor(rest: Calls, clock: () => number) {
    super({
      part: "agents",
      agents: null,
      agent: null,
      keys: null,
      created: null,
      usage: null,
      busy: false,
      problem: null,
      notice: null,
    });
    this.#rest = rest;
    this.#clock = clock;
  }

  /** Looks at a part, as it is now. */
  async show(part: AdministrationPart): Promise<void> {
    this.#leave(part);
    await this.#look(async () => {
      switch (part) {
        case "agents":
          return { agents: await this.#readAgents() };
        case "keys":
          return { keys: await this.#readKeys() };
        case "usage":
          return { usage: await this.#readUsage() };
      }
    });
  }

  /** Looks at nothing for now. What is written in the editor stays. */
  leave(): void {
    this.#leave(this.value.part);
  }

  /** Looks at an agent's newest version. */
  async showAgent(id: string): Promise<void> {
    await this.#look(async () => ({ agent: await this.#readAgent(id) }));
  }

  /** Puts a version of the agent that is looked at into the editor. */
  showVersion(version: number): void {
    const { agent } = this.value;
    const chosen = agent?.versions.find((other) => other.version === version);
    if (agent && chosen) this.change({ agent: { ...agent, version, text: definitionText(chosen) } });
  }

  edit(text: string): void {
    const { agent } = this.value;
    if (agent) this.change({ agent: { ...agent, text }, notice: null });
  }

  /** Makes what is in the editor a new version. */
  async saveAgent(): Promise<void> {
    const { agent } = this.value;
    if (!agent) return;
    await this.#do(async () => {
      const { version } = await this.#rest.changeAgent(agent.id, parsed(agent.text));
      const notice = `Version ${version} is stored. Sessions that were begun before keep theirs.`;
      return { agent: await this.#readAgent(agent.id), agents: await this.#readAgents(), notice };
    });
  }

  async createAgent(id: string): Promise<void> {
    await this.#do(async () => {
      await this.#rest.createAgent({ id });
      return { agents: await this.#readAgents(), agent: await this.#readAgent(id) };
    });
  }

  async createKey(name: string, role: ApiKey["role"]): Promise<void> {
    await this.#do(async () => {
      const created = await this.#rest.createKey({ name, role });
      return { created, keys: await this.#readKeys() };
    });
  }

  async revokeKey({ id, name }: ApiKey): Promise<void> {
    await this.#do(async () => {
      await this.#rest.deleteKey(id);
      return { keys: await this.#readKeys(), created: null, notice: `The key ${name} is revoked.` };
    });
  }

  #leave(part: AdministrationPart): void {
    this.change({ part, created: null, problem: null, notice: null });
  }

  #readAgents(): Promise<AgentVersion[]> {
    return readAll((query) => this.#rest.agents(query));
  }

  #readKeys(): Promise<ApiKey[]> {
    return readAll((query) => this.#rest.keys(query));
  }

  async #readAgent(id: string): Promise<ShownAgent> {
    const versions = await readAll((query) => this.#rest.agentVersions(id, query));
    const [newest] = versions;
    return { id, versions, version: newest?.version ?? 0, text: newest ? definitionText(newest) : "" };
  }

  #readUsage(): Promise<UsageSum[]> {
    const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
    const now = this.#clock();
    const span = { from: day(now - (USAGE_DAYS - 1) * DAY_MS), to: day(now) };
    return readAll((query) => this.#rest.usage({ ...span, ...query }));
  }

  /** Looking waits for nothing else; what is no longer looked at has failed unseen. */
  async #look(call: () => Promise<Partial<AdministrationState>>): Promise<void> {
    const { part } = this.value;
    try {
      const found = await call();
      if (this.value.part === part) this.change(found);
    } catch (caught) {
      if (this.value.part === part) this.change({ problem: toErrorBody(caught) });
    }
  }

  /** One change at a time. What it came to, or why it came to nothing, is shown. */
  async #do(call: () => Promise<Partial<AdministrationState>>): Promise<void> {
    if (this.value.busy) return;
    this.change({ busy: true, problem: null, notice: null });
    try {
      this.change({ ...(await call()), busy: false });
    } catch (caught) {
      this.change({ busy: false, problem: toErrorBody(caught) });
    }
  }
}

/** A whole list, part by part. */
async function readAll<Item>(read: (query: PageQuery) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await read({ limit: PAGE_SIZE, ...(cursor !== null && { cursor }) });
    items.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return items;
}

/** A definition as it is written: without what the server adds. */
function definitionText({ id: _id, version: _version, createdAt: _at, ...definition }: AgentVersion): string {
  return JSON.stringify(definition, null, 2);
}

/** @throws LightAgentError `invalid_json` for what is no JSON */
function parsed(text: string): AgentDefinition {
  try {
    return JSON.parse(text) as AgentDefinition;
  } catch (cause) {
    throw new LightAgentError("invalid_json", "The definition is not valid JSON.", undefined, { cause });
  }
}

/** The sums of some days, by model, the largest first. */
export function usageByModel(usage: readonly UsageSum[]): Omit<UsageSum, "day" | "agent">[] {
  const models = new Map<string, Omit<UsageSum, "day" | "agent">>();
  for (const { model, usage: own, cost } of usage) {
    const before = models.get(model);
    models.set(model, {
      model,
      usage: before ? addUsage(before.usage, own) : own,
      cost: (before?.cost ?? 0) + cost,
    });
  }
  return [...models.values()].toSorted((a, b) => b.usage.input - a.usage.input);
}
