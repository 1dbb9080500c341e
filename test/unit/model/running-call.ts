import { callModel } from "../../../src/runtime/model/model-call.ts";
import type { ModelCallEvent, ModelCallOptions } from "../../../src/runtime/model/model-call.ts";
import type { ModelProvider } from "../../../src/runtime/model/model-provider.ts";
import { createScriptedProvider } from "../../../src/runtime/model/scripted-provider.ts";
import type { ScriptedStep } from "../../../src/runtime/model/scripted-provider.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import { FakeTime } from "../support/fake-time.ts";
import { ASK } from "./streamed.ts";

export const START = 1_000_000;

/** A call in progress: what it has yielded so far, and the means to move it. */
export class RunningCall {
  readonly time = new FakeTime(START);
  readonly controller = new AbortController();
  readonly events: ModelCallEvent[] = [];
  readonly done: Promise<void>;

  constructor(provider: (time: FakeTime) => ModelProvider, options: Partial<ModelCallOptions> = {}) {
    const timers = this.time;
    this.done = this.#read({
      provider: provider(timers),
      request: ASK,
      signal: this.controller.signal,
      limits: DEFAULT_LIMITS,
      clock: timers.clock,
      timers,
      random: () => 0.5,
      firstAttempt: 1,
      ...options,
    });
  }

  async #read(options: ModelCallOptions): Promise<void> {
    for await (const event of callModel(options)) this.events.push(event);
  }

  get types(): string[] {
    return this.events.map((event) => event.type);
  }

  get last(): ModelCallEvent | undefined {
    return this.events.at(-1);
  }
}

/** A provider that plays these steps by the call's time. */
export function scripted(...steps: readonly ScriptedStep[]): (time: FakeTime) => ModelProvider {
  return (timers) => createScriptedProvider(steps, { timers });
}

/** A call that the test reads by itself. */
export function startCall(
  provider: ModelProvider,
  options: Partial<ModelCallOptions> = {},
): { events: AsyncGenerator<ModelCallEvent>; controller: AbortController; time: FakeTime } {
  const time = new FakeTime(START);
  const controller = new AbortController();
  const events = callModel({
    provider,
    request: ASK,
    signal: controller.signal,
    limits: DEFAULT_LIMITS,
    clock: time.clock,
    timers: time,
    random: () => 0,
    firstAttempt: 1,
    ...options,
  });
  return { events, controller, time };
}
