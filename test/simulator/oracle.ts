import type { Answer } from "../../src/runtime/protocol/answer.ts";
import type { ModelRequest } from "../../src/runtime/model/model-provider.ts";
import type { ServerFrame } from "../../src/runtime/protocol/frames.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import type { AgentEvent } from "../../src/runtime/protocol/events.ts";
import { checkApprovals } from "./approval-checks.ts";
import { CallChecks } from "./call-checks.ts";
import { lifeNow } from "./life.ts";
import type { Life } from "./life.ts";
import { LogMirror } from "./log-mirror.ts";
import { ModelChecks } from "./model-checks.ts";
import { PaceChecks } from "./pace-checks.ts";
import { checkPrompts } from "./prompt-checks.ts";
import type { Asked } from "./requests.ts";
import { checkRestores } from "./restore-checks.ts";
import { TextChecks } from "./text-checks.ts";
import { checkUsage } from "./usage-checks.ts";
import type { World } from "./world.ts";

/** Everything that a socket carries to a client. */
export type Frame = ServerFrame | AgentEvent;

/** A promise is kept in time when it is kept within this, in ms: what the simulated world itself may take. */
const SLACK_MS = 5_000;

/**
 * Keeps its own account of what was promised, done and shown, and compares it with what lies in storage. It uses none
 * of the product's folds; of the product it knows the grammar checkers and the documented form of events.
 */
export class Oracle {
  readonly mirror: LogMirror;
  readonly text: TextChecks;
  readonly #world: World;
  readonly #calls: CallChecks;
  readonly #model: ModelChecks;
  readonly #pace: PaceChecks;

  constructor(world: World) {
    this.#world = world;
    this.mirror = new LogMirror((rule, message) => world.violate(rule, message));
    this.text = new TextChecks(world);
    this.#calls = new CallChecks(world, this.mirror);
    this.#model = new ModelChecks(world, this.mirror);
    this.#pace = new PaceChecks(world, this.mirror);
  }

  /** Something has become durable. */
  durable(): void {
    const { tally, platform } = this.#world;
    for (const event of this.mirror.read(platform.disk)) {
      tally.count(`event: ${event.type}`);
      this.#world.trace(`  ${event.seq} ${event.type} ${event.turn}/${event.step} ${briefly(event)}`);
      this.text.durable(event);
      this.#calls.durable(event);
      this.#pace.durable(event);
      this.#world.people.react(event.type);
    }
  }

  /** A frame leaves the object: what it says has happened must lie in storage. */
  told(frame: Frame): void {
    if (frame.type === "events") {
      for (const event of frame.events) {
        if (JSON.stringify(event) === this.mirror.texts[event.seq - 1]) continue;
        this.#world.violate("write-then-tell", `told, but not in storage: ${event.type} ${event.seq}`);
      }
    }
    if (frame.type === "ack") this.#world.wire.answered(frame.id, { ok: true, value: frame.result });
    if (frame.type === "nack" && frame.id !== null)
      this.#world.wire.answered(frame.id, { ok: false, error: frame.error });
    if (frame.type === "diagnostic" && frame.code === "internal" && !this.#world.platform.life?.hurt) {
      this.#world.violate("no-surprise", `diagnostic: ${frame.message}`);
    }
  }

  /** An instance is gone: unless nothing is left to do, the alarm has to bring the next one in time. */
  left(): void {
    const { platform, scheduler, limits, model } = this.#world;
    const { openTurn, openRequests } = this.mirror;
    if (openTurn === null && platform.owed === 0) return;
    const patience = openRequests.length > 0 ? limits.requestMs : limits.heartbeatMs;
    const latest = Math.max(scheduler.now + patience, model.askedToWaitUntil) + SLACK_MS;
    const due = platform.disk.alarm;
    if (due !== null && due <= latest) return;
    const when = due === null ? "never" : `in ${due - scheduler.now} ms`;
    this.#world.violate("somebody-comes", `the alarm comes ${when}, and turn ${openTurn} is open`);
  }

  /** Nothing is left to happen. */
  atRest(): void {
    const { platform, outside } = this.#world;
    const { openTurn } = this.mirror;
    const violate = (message: string): void => this.#world.violate("rest", message);
    if (openTurn !== null) violate(`turn ${openTurn} is open and nothing happens any more`);
    if (platform.owed > 0) violate(`${platform.owed} prompts or restores wait and nothing happens any more`);
    if (platform.disk.alarm !== null) violate("an alarm is due in a session at rest");
    const last = this.mirror.inputs.size;
    const told = outside.reports.some(({ turn, index }) => turn === last && index.status === "idle");
    if (last > 0 && !told) violate(`the tenant never heard of the end of turn ${last}`);
  }

  answered(asked: Asked, answer: Answer<unknown>): void {
    this.#world.requests.answered(asked, answer, this.mirror.head);
    const { kind } = asked;
    const mode = kind === "prompt" ? ` ${(asked.body["mode"] as string | undefined) ?? "queue"}` : "";
    this.#world.tally.count(`${kind}${mode}: ${answer.ok ? "ok" : answer.error.code}`);
    this.#world.trace(`< ${kind}${mode} ${asked.target} ${JSON.stringify(answer)}`);
  }

  toolBegins(callId: string, args: object, life: Life, signal: AbortSignal): () => void {
    return this.#calls.begins(callId, args, life, signal);
  }

  effect(callId: string, life: Life, signal: AbortSignal): void {
    this.#calls.effect(callId, life, signal);
  }

  changeAsked(callId: string): void {
    this.#calls.changeAsked(callId);
  }

  modelCalled(id: string, request: ModelRequest): void {
    this.#model.called(id, request);
    if (lifeNow()?.state === "current") this.#pace.modelCalled();
  }

  /** The world is at rest: everything that was promised must have been kept. */
  settle(): void {
    const { mirror } = this;
    const violate = (rule: string, message: string): void => this.#world.violate(rule, message);
    for (const { at, message } of checkLog(mirror.events)) violate("log-grammar", `at ${at}: ${message}`);
    checkRestores(this.#world.requests, mirror, violate);
    checkPrompts(this.#world.requests, mirror, violate);
    checkApprovals(this.#world.requests, mirror, violate);
    checkUsage(this.#world.outside.reports, mirror, violate);
    this.#calls.settle();
  }
}

function briefly(event: object): string {
  const {
    seq: _seq,
    at: _at,
    turn: _turn,
    step: _step,
    type: _type,
    ...payload
  } = event as Record<string, unknown>;
  return JSON.stringify(payload).slice(0, 160);
}
