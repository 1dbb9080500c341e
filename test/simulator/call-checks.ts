import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { lifeNow } from "./life.ts";
import type { Life } from "./life.ts";
import type { LogMirror } from "./log-mirror.ts";
import { TOOL_FACTS } from "./tools.ts";
import type { World } from "./world.ts";

/** More than any wait of the simulated world that a stop cannot cut short (hooks, hashes, storing a result), in ms. */
const SLACK_MS = 2_000;

interface Running {
  readonly callId: string;
  readonly life: Life;
  readonly alone: boolean;
}

/** What tools do: each effect at most once, with exactly the arguments that were allowed, and never in a stopped turn. */
export class CallChecks {
  readonly #world: World;
  readonly #mirror: LogMirror;
  /** Runs that their instance has not let go of. */
  readonly #running = new Set<Running>();
  /** When each turn was stopped, and how many faults there had been by then. */
  readonly #stops = new Map<number, { at: number; faults: number }>();

  constructor(world: World, mirror: LogMirror) {
    this.#world = world;
    this.#mirror = mirror;
  }

  durable(event: DurableEvent): void {
    const { scheduler, faults, faultAt, platform, limits } = this.#world;
    const state = faults + (platform.life?.number ?? 0);
    const fenced = event.type === "tool_result" && event.code === "write_fenced";
    if (fenced) this.#violate("fence", `${event.callId} of the only instance was refused by its workspace`);
    // A write that failed in the moment of the stop leaves the turn to the next wake, stopped or not.
    if (event.type === "interrupt" && faultAt !== scheduler.now)
      this.#stops.set(event.turn, { at: scheduler.now, faults: state });
    if (event.type !== "agent_stop") return;
    const stop = this.#stops.get(event.turn);
    // Where something died or failed on the way, the time that passes is not the stop's.
    if (!stop || stop.faults !== state) return;
    const took = scheduler.now - stop.at;
    if (took > limits.stopGraceMs + SLACK_MS)
      this.#violate("stop", `turn ${event.turn} took ${took} ms to stop`);
  }

  /** A tool begins to run; the returned function says that it has ended. */
  begins(callId: string, args: object, life: Life, signal: AbortSignal): () => void {
    const call = this.#mirror.calls.get(callId);
    if (!call) this.#violate("known-call", `a tool runs for the unknown call ${callId}`);
    const facts = TOOL_FACTS.get(call?.name ?? "");
    // What an instance had begun when it was replaced may still run; its storage no longer speaks of it.
    if (call && facts && life.state === "current") {
      if (!call.started) this.#violate("write-then-do", `${callId} runs before its start is durable`);
      if (call.result) this.#violate("effect-once", `${callId} runs after its result`);
      if (this.#mirror.interrupts.has(call.turn))
        this.#violate("stop", `${callId} begins after the stop of its turn`);
      const { _intent: _, ...allowed } = call.args;
      const same = JSON.stringify(allowed) === JSON.stringify(args);
      if (!same) this.#violate("approved-args", `${callId} runs with ${JSON.stringify(args)}`);
      this.#checkPermission(call.name, callId);
      this.#checkCompany(callId, facts.alone, life);
    }
    const running: Running = { callId, life, alone: facts?.alone ?? false };
    this.#running.add(running);
    const ends = (): void => void this.#running.delete(running);
    // A call that its instance has settled runs on alone: it counts no more.
    signal.addEventListener("abort", ends, { once: true });
    return ends;
  }

  #checkPermission(name: string, callId: string): void {
    const { policy } = this.#world;
    if (!policy || policy.dryRun) return;
    const effect = TOOL_FACTS.get(name)?.policy;
    if (effect === "deny") this.#violate("policy", `${callId} of the forbidden tool ${name} runs`);
    if (effect !== "ask") return;
    const answer = this.#mirror.calls.get(callId)?.approval?.answer;
    const remembered = this.#world.requests
      .of("decide")
      .some(
        ({ target, body }) => body["remember"] === true && this.#mirror.askedAbout(target)?.name === name,
      );
    if (answer?.decision !== "allow" && !remembered)
      this.#violate("policy", `${callId} runs without approval`);
  }

  #checkCompany(callId: string, alone: boolean, life: Life): void {
    const others = [...this.#running].filter((other) => other.life === life && other.callId !== callId);
    if (others.length >= this.#world.limits.parallelCalls) {
      this.#violate("parallel", `${callId} is one of ${others.length + 1} calls that run`);
    }
    if (others.length > 0 && (alone || others.some((other) => other.alone))) {
      this.#violate("parallel", `${callId} runs beside ${others.map((other) => other.callId).join()}`);
    }
  }

  /** A tool takes effect: of a call that is settled its tool has been told so, whether it minds or not. */
  effect(callId: string, life: Life, signal: AbortSignal): void {
    const settled = this.#mirror.calls.get(callId)?.result;
    if (!settled || life.state !== "current" || signal.aborted) return;
    this.#violate("fence", `${callId} takes effect after its result, and nobody told its tool to stop`);
  }

  /** A tool asks its workspace for a change through the handle that its instance gave it. */
  changeAsked(callId: string): void {
    const settled = this.#mirror.calls.get(callId)?.result;
    // The workspace itself refuses a replaced instance.
    if (!settled || lifeNow()?.state !== "current") return;
    this.#violate("fence", `${callId} changes its workspace after its result`);
  }

  /** At rest: effects and results tell the same story. */
  settle(): void {
    const { effects } = this.#world.outside;
    const times = new Map<number, number>();
    for (const { token, tool } of effects) {
      const count = (times.get(token) ?? 0) + 1;
      times.set(token, count);
      if (count > 1 && TOOL_FACTS.get(tool)?.once)
        this.#violate("effect-once", `${tool} ${token} happened ${count} times`);
    }
    for (const call of this.#mirror.calls.values()) this.#checkResult(call.id, times);
  }

  #checkResult(callId: string, times: ReadonlyMap<number, number>): void {
    const call = this.#mirror.calls.get(callId);
    const token = Number(call?.args["token"]);
    if (!call || Number.isNaN(token)) return;
    const { result, approval } = call;
    if (!result) return this.#violate("one-result", `call ${callId} has no result`);
    const said = /^done (\d+)/.exec(result.content)?.[1];
    if (said !== undefined && Number(said) !== token)
      this.#violate("own-result", `${callId} has the result of ${said}`);
    const happened = (times.get(token) ?? 0) > 0;
    if (said !== undefined && !happened)
      this.#violate("own-result", `${callId} says that it is done and is not`);
    const refused = approval?.answer && approval.answer.decision !== "allow";
    if (refused && happened) this.#violate("approval", `${callId} was ${approval.answer?.decision} and ran`);
    if (result.code === "not_executed" && happened)
      this.#violate("own-result", `${callId} ran, its result denies it`);
  }

  #violate(rule: string, message: string): void {
    this.#world.violate(rule, message);
  }
}
