/** A mistake that somebody could make: one line of the shipped source, changed. */
export interface PlantedBug {
  readonly name: string;
  /** Below `src/`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly line: string;
  readonly instead: string;
  /** Shows in few worlds only, so that looking for it takes long. */
  readonly rare?: boolean;
}

/** Each of them breaks a promise, and the simulator has to notice each. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "a settled call can still change its workspace",
    file: "runtime/agent/agent-tool-context.ts",
    line: "if (signal.aborted) throw",
    instead: "if (Date.now() < 0) throw",
  },
  {
    name: "a call that had started runs again, idempotent or not",
    file: "runtime/loop/recover-call.ts",
    line: "(tool.idempotent ?? tool.readOnly ?? false) ? again : unknown",
    instead: "again",
  },
  {
    name: "events are told before they are written",
    file: "runtime/agent/session-log.ts",
    line: "written = this.#session.append(commit);",
    instead: "this.#tell({ events, live }); written = this.#session.append(commit);",
  },
  {
    name: "a waiting prompt is kept in memory only",
    file: "durable/session-store.ts",
    line: "if (commit.waiting) this.#prompts.insert(commit.waiting);",
    instead: "",
  },
  {
    name: "a steer that was taken goes on waiting, now and then",
    file: "runtime/agent/session-log.ts",
    line: 'event.type === "input" || event.type === "steer" || event.type === "prompt_dropped") {',
    instead:
      'event.type === "input" || (event.type === "steer" && event.seq % 2 === 0) || event.type === "prompt_dropped") {',
  },
  {
    name: "attempts of every wake have the same numbers",
    file: "runtime/loop/run-turn.ts",
    line: "wakes * ATTEMPTS_PER_WAKE + 1,",
    instead: "1,",
  },
  {
    name: "an approval with other arguments runs the old ones",
    file: "runtime/protocol/session-fold.ts",
    line: "call: { ...state.call, args }",
    instead: "call: { ...state.call }",
  },
  {
    name: "a turn that was stopped is worked on",
    file: "runtime/loop/next-action.ts",
    line: "if (turn.failure || turn.interrupt)",
    instead: "if (turn.failure)",
  },
  {
    name: "results reach the model in the order in which they came",
    file: "runtime/protocol/model-messages.ts",
    line: "const tools = calls.map((call): ModelMessage => {",
    instead:
      "const tools = calls.toSorted((a, b) => (results.get(a.id)?.seq ?? 0) - (results.get(b.id)?.seq ?? 0)).map((call): ModelMessage => {",
  },
  {
    name: "prompts that a turn took in keep their rows in the queue",
    file: "durable/session-store.ts",
    line: "for (const { promptId } of steered) this.#prompts.delete(promptId);",
    instead: "",
  },
  {
    name: "wakes are counted anew after progress",
    file: "durable/turn-keeper.ts",
    line: "const wakes = before?.turn === open.turn ? before.wakes : 0;",
    instead: "const wakes = stuck ? before.wakes : 0;",
  },
  {
    name: "wakes without progress are not counted",
    file: "durable/turn-keeper.ts",
    line: "stalls: stalls + (waited ? 0 : 1)",
    instead: "stalls",
  },
  {
    name: "a call that must run alone has company after a recovery",
    file: "runtime/loop/next-action.ts",
    line: "if (running.some(alone)) return [];",
    instead: "if (running.some((state) => alone(state) && !state.recovered)) return [];",
  },
  {
    name: "a stop leaves approvals open",
    file: "runtime/loop/next-action.ts",
    line: "const asking = unfinished.filter(isAsking);",
    instead: "const asking = unfinished.filter(({ question }) => question?.open === true);",
  },
  {
    name: "a prompt's id is enough to be the same prompt",
    file: "runtime/agent/prompt-desk.ts",
    line: "if (known.digest !== prompt.digest) {",
    instead: "if (known.digest === undefined) {",
  },
  {
    name: "the tools of a stopped turn are not told to stop",
    file: "runtime/loop/call-runner.ts",
    line: "const abort = (): void => controller.abort(place.stop.reason);",
    instead: "const abort = (): void => undefined;",
  },
  {
    name: "a tool begins though its turn was stopped while a hook ran",
    file: "runtime/loop/call-runner.ts",
    line: "if (!answered) signal.throwIfAborted();",
    instead: "",
  },
  {
    name: "a commit that failed leaves the other calls running",
    file: "runtime/agent/turn-driver.ts",
    line: 'stop.abort(new DOMException("The turn could not be carried on.", "AbortError"));',
    instead: "",
    rare: true,
  },
  {
    name: "text that a dead process had shown is never withdrawn",
    file: "runtime/loop/run-turn.ts",
    line: "if (this.#settings.wakes > 0) this.#withdrawLost();",
    instead: "",
  },
  {
    name: "an old report of a turn's end calls off the alarm for the new one",
    file: "durable/turn-keeper.ts",
    line: "const isNewest = report.index.head === head;",
    instead: "const isNewest = head >= 0;",
  },
  {
    name: "a log that could not be written is never loaded again",
    file: "durable/session-keeper.ts",
    line: "if (session.agent.failure) void session.agent.loadSession();",
    instead: "",
  },
  {
    name: "a turn that goes on after a person's answer has no alarm",
    file: "durable/turn-keeper.ts",
    line: "if (session.agent.fold.open || spends) this.heartbeat(session);",
    instead: 'if (events.some(({ type }) => type === "input")) this.heartbeat(session);',
    rare: true,
  },
  {
    name: "a queued prompt is forgotten by the alarm",
    file: "durable/turn-keeper.ts",
    line: 'if (told.ok && isNewest && status === "idle" && queuedPrompts === 0 && !busy()) alarms.clear();',
    instead: 'if (told.ok && isNewest && status === "idle") alarms.clear();',
  },
  {
    name: "the second of two answers to an approval wins",
    file: "runtime/agent/request-desk.ts",
    line: "if (!state?.approval?.open) {",
    instead: "if (!state?.approval) {",
  },
  {
    name: "an interrupting prompt waits at the end of the queue",
    file: "runtime/protocol/waiting-prompt.ts",
    line: "interrupt: 0,",
    instead: "interrupt: 2,",
  },
  {
    name: "the text of a failed attempt is not withdrawn",
    file: "runtime/loop/model-step.ts",
    line: "return item.shown ? [end, reset, retry] : [end, retry];",
    instead: "return item.shown ? [end, retry] : [end, retry];",
  },
  {
    name: "a summary is written although the session went on",
    file: "runtime/agent/compaction-desk.ts",
    line: "this.#log.fold.head !== head || this.#log.waiting.length > 0 || begun();",
    instead: "false;",
  },
  {
    name: "a second summary forgets what the first one kept of the users",
    file: "runtime/context/compaction.ts",
    line: "withinBound(before.said, old",
    instead: "withinBound(NOTHING_SAID, old",
  },
  {
    name: "after a restore the model still sees what was taken back",
    file: "runtime/protocol/conversation.ts",
    line: 'if (event.type === "checkpoint_restore" && event.conversation)',
    instead: 'if (event.type === "checkpoint_restore" && !event.conversation)',
  },
  {
    name: "a restore that is finished is still to be done",
    file: "durable/session-store.ts",
    line: 'if (event.type === "checkpoint_restore") this.#meta.delete(META.restore);',
    instead: "",
  },
  {
    name: "a prompt that is accepted again is asked twice",
    file: "durable/session-store.ts",
    line: "return this.#prompts.find(promptId) ?? this.turns.findPrompt(promptId);",
    instead: "return this.#prompts.find(promptId);",
  },
  {
    name: "an approval runs though it was denied",
    file: "runtime/loop/call-gate.ts",
    line: 'if (approval.decision === "allow") return',
    instead: "if (approval.decision) return",
  },
];
