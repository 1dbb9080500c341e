import { agentDefinitionSchema } from "../../src/runtime/protocol/agent-definition.ts";
import type { CreateSession } from "../../src/durable/session-api.ts";
import type { Caller } from "../../src/durable/session-api.ts";
import { withLimits } from "../../src/runtime/protocol/limits.ts";
import type { Limits } from "../../src/runtime/protocol/limits.ts";
import type { PolicyDefinition } from "../../src/runtime/protocol/policy-definition.ts";
import { Client } from "./client.ts";
import { deploy } from "./deploy.ts";
import { Dice } from "./dice.ts";
import { CALM, forecast } from "./faults.ts";
import type { Weather } from "./faults.ts";
import { SimulatedModel } from "./model.ts";
import { Oracle } from "./oracle.ts";
import { Outside } from "./outside.ts";
import { People } from "./people.ts";
import { Platform } from "./platform.ts";
import { Requests } from "./requests.ts";
import { Scheduler } from "./scheduler.ts";
import type { SimulatedSocket } from "./socket.ts";
import { Tally } from "./tally.ts";
import { Wire } from "./wire.ts";

/** When every simulated world begins: a morning in UTC, in ms since the epoch. */
const BEGINNING = Date.UTC(2026, 0, 5, 8);

/** A promise of the product that did not hold. */
export interface Broken {
  readonly rule: string;
  readonly message: string;
  /** ms since the world began. */
  readonly at: number;
}

/** One simulated world: a session object on its platform, and everything around it, all of it decided by one seed. */
export class World {
  readonly dice: Dice;
  readonly scheduler: Scheduler;
  readonly tally = new Tally();
  readonly requests = new Requests();
  readonly oracle: Oracle;
  readonly outside: Outside;
  readonly platform: Platform;
  readonly model: SimulatedModel;
  readonly wire: Wire;
  readonly clients: readonly Client[];
  readonly people: People;
  readonly limits: Limits;
  readonly policy: PolicyDefinition | undefined;
  readonly defaultModel = "sim/one";
  readonly broken: Broken[] = [];
  weather: Weather;
  /** Writes that were made to fail so far. */
  faults = 0;
  /** When the last one was, in ms. */
  faultAt = -1;
  /** Nothing goes wrong by itself any more. */
  calm = false;
  readonly #print: ((line: string) => void) | null;
  #fingerprint = 0;

  constructor(seed: number, print: ((line: string) => void) | null) {
    this.#print = print;
    this.dice = new Dice(seed);
    this.scheduler = new Scheduler(this.dice, BEGINNING, (line) => this.trace(line));
    this.weather = forecast(this.dice);
    this.limits = withLimits({ ...limitsOf(this.dice), ...windowOf(seed) });
    this.policy = policyOf(this.dice);
    this.oracle = new Oracle(this);
    this.outside = new Outside(this);
    this.platform = new Platform(this, this.outside.environment());
    this.model = new SimulatedModel(this);
    this.wire = new Wire(this);
    const names = ["ann", "bob", "cyd"].slice(0, this.dice.between(1, 3));
    this.clients = names.map((name) => new Client(this, name));
    this.people = new People(this, this.clients);
    deploy(this);
  }

  /** A number that stands for everything that has happened: equal for two runs of one seed. */
  get fingerprint(): number {
    return this.#fingerprint;
  }

  trace(line: string): void {
    for (let at = 0; at < line.length; at += 1) {
      this.#fingerprint = (Math.imul(this.#fingerprint, 31) + line.charCodeAt(at)) | 0;
    }
    this.#print?.(`${String(this.scheduler.now - BEGINNING).padStart(9)} ${line}`);
  }

  violate(rule: string, message: string): void {
    this.broken.push({ rule, message, at: this.scheduler.now - BEGINNING });
    this.trace(`VIOLATION of ${rule}: ${message}`);
  }

  /** From now on nothing fails by itself. */
  clearUp(): void {
    this.calm = true;
    this.weather = CALM;
  }

  caller({ end }: SimulatedSocket): Caller {
    return { tenant: "t", principal: end.by, scopes: ["read", "prompt", "decide"], keyId: "k" };
  }

  get session(): CreateSession {
    const { policy } = this;
    return {
      tenant: "t",
      id: "s",
      agent: "a",
      agentVersion: 1,
      definition: agentDefinitionSchema.parse(policy ? { policy } : {}),
      workspace: "w",
      title: "",
      metadata: {},
      limits: this.limits,
      by: { kind: "user", id: "ann" },
    };
  }
}

/** Every fourth world's models hold so little that a conversation outgrows them. */
function windowOf(seed: number): Partial<Limits> {
  return seed % 4 === 0 ? { windowTokens: 120 + (seed % 300) } : {};
}

/** Small bounds, so that all of them are met. */
function limitsOf(dice: Dice): Partial<Limits> {
  return {
    stepsPerTurn: dice.between(2, 7),
    parallelCalls: dice.between(1, 5),
    waitingPrompts: dice.between(2, 5),
    modelTries: dice.between(1, 4),
    toolMs: 8_000,
    firstDeltaMs: 5_000,
    betweenDeltasMs: 5_000,
    modelCallMs: 20_000,
    stopGraceMs: 1_000,
    requestMs: dice.pick([30_000, 10 * 60_000, 24 * 60 * 60_000]),
    replayPageBytes: dice.pick([500, 4_000, 256 * 1024]),
    syncBytes: dice.pick([4_000, 1024 * 1024]),
  };
}

function policyOf(dice: Dice): PolicyDefinition | undefined {
  const policy: PolicyDefinition = { ask: ["guarded*"], deny: ["forbidden"] };
  const kind = dice.weighted({ none: 1, strict: 4, dry: 0.5 });
  if (kind === "none") return undefined;
  return kind === "dry" ? { ...policy, dryRun: true } : policy;
}
