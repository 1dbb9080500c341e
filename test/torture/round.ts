import { setTimeout as delay } from "node:timers/promises";
import type { SessionState } from "../../src/runtime/protocol/frames.ts";
import type { ProductProcess } from "../e2e/product-process.ts";
import { Api } from "./api.ts";
import { checkEffects } from "./check-effects.ts";
import { checkFollowers } from "./check-followers.ts";
import { checkModel } from "./check-model.ts";
import { checkPeople } from "./check-people.ts";
import { checkPrompts } from "./check-prompts.ts";
import { checkState } from "./check-state.ts";
import { readSession, readWorkspace } from "./collect.ts";
import { Crowd } from "./crowd.ts";
import type { SessionEvidence, Violation, WorkspaceEvidence } from "./evidence.ts";
import type { Frame } from "./follower.ts";
import { Killer } from "./killer.ts";
import type { KillKind } from "./killer.ts";
import type { PlannedModel } from "./planned-model.ts";
import { Random } from "./random.ts";

export interface RoundOptions {
  readonly seed: number;
  readonly sessions: number;
  /** Sessions are driven until all of them have happened. */
  readonly kills: readonly KillKind[];
}

/** What a round came to. */
export interface Round {
  readonly seed: number;
  readonly killer: Killer;
  readonly lost: number;
  readonly sessions: readonly SessionEvidence[];
  readonly workspaces: readonly WorkspaceEvidence[];
  readonly violations: readonly Violation[];
  /** How long it took, and how long until all was at rest after the last kill. */
  readonly tookMs: number;
  readonly restMs: number;
}

/** All sessions are at rest, and all clients up to date, within so long after the last kill. */
const REST_MS = 60_000;
/** A round that takes longer is stuck. */
const STUCK_MS = 300_000;

/** Drives sessions of their own under kills, waits until they rest, and checks everything that was promised. */
export async function runRound(
  product: ProductProcess,
  model: PlannedModel,
  options: RoundOptions,
): Promise<Round> {
  const startedAt = Date.now();
  const random = new Random(options.seed);
  const api = new Api(product);
  const killer = new Killer(product, random.fork("killer"));
  const [driving, watching] = [new AbortController(), new AbortController()];
  const timer = setTimeout(() => api.giveUp(), STUCK_MS);
  const crowds: Crowd[] = [];
  model.onCalls = () => killer.notice("calls");
  try {
    const killing = killer.run(options.kills).finally(() => driving.abort());
    const onFrame = (frame: Frame): void => notice(killer, frame);
    const run = async (index: number): Promise<void> => {
      const session = `t${options.seed}-${index}`;
      // The first two sessions share a workspace.
      const names = { session, workspace: `t${options.seed}-w${Math.max(0, index - 1)}` };
      const crowd = await Crowd.open(api, names, random.fork(session), onFrame);
      crowds.push(crowd);
      await crowd.run(driving.signal, watching.signal);
    };
    await Promise.all([killing, ...Array.from({ length: options.sessions }, (_, index) => run(index))]);
    const calmAt = Date.now();
    for (const crowd of crowds) crowd.calm();
    await rest(api, crowds);
    const restMs = Date.now() - calmAt;
    await Promise.all(crowds.map(({ driver }) => driver.repeatAll()));
    await upToDate(api, crowds);
    watching.abort();
    const sessions = await Promise.all(
      crowds.map(({ account, followers }) => {
        const seen = model.sessions.get(account.session);
        return readSession(api, { account, followers, model: seen });
      }),
    );
    const names = new Set(sessions.map(({ account }) => account.workspace));
    const workspaces = await Promise.all(
      [...names].map(async (name) => {
        return readWorkspace(
          api,
          name,
          sessions.filter(({ account }) => account.workspace === name),
        );
      }),
    );
    const violations = [
      ...sessions.flatMap(check),
      ...workspaces.flatMap(checkEffects),
      ...strays(api, model),
    ];
    const tookMs = Date.now() - startedAt;
    return { seed: options.seed, killer, lost: api.lost, sessions, workspaces, violations, tookMs, restMs };
  } finally {
    clearTimeout(timer);
    driving.abort();
    watching.abort();
    api.giveUp();
    await Promise.all(crowds.map((crowd) => crowd.left()));
  }
}

function check(session: SessionEvidence): Violation[] {
  const checks = [checkPrompts, checkState, checkFollowers, checkModel, checkPeople];
  return checks.flatMap((one) => one(session));
}

/** What no session can be blamed for. */
function strays(api: Api, model: PlannedModel): Violation[] {
  return [
    ...api.failures.map((message) => ({ rule: "LOG-62", session: "", message })),
    ...model.strays.splice(0).map((message) => ({ rule: "LOG-66", session: "", message })),
  ];
}

function notice(killer: Killer, frame: Frame): void {
  if (frame.type === "events") for (const { type } of frame.events) killer.notice(type);
  else killer.notice(frame.type);
}

/** Waits until nothing runs or waits; what does so for ever is found by the check of the state. */
async function rest(api: Api, crowds: readonly Crowd[]): Promise<void> {
  const deadline = Date.now() + REST_MS;
  for (const { account } of crowds) {
    for (let resting = false; !resting && Date.now() < deadline;) {
      const state = await api.get<SessionState>(`/v1/sessions/${account.session}`);
      resting = state.status === "idle" && state.queued === 0;
      if (!resting) await delay(100);
    }
  }
}

/** Waits until every client holds the whole log; those that never do are found by their check. */
async function upToDate(api: Api, crowds: readonly Crowd[]): Promise<void> {
  const deadline = Date.now() + REST_MS;
  for (const { account, followers } of crowds) {
    const { head } = await api.get<SessionState>(`/v1/sessions/${account.session}`);
    while (followers.some(({ view }) => view.head < head) && Date.now() < deadline) await delay(50);
  }
}
