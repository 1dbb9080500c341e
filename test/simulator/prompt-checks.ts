import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { LogMirror } from "./log-mirror.ts";
import { precedes, wasAccepted } from "./requests.ts";
import type { Asked, Requests } from "./requests.ts";

type Violate = (rule: string, message: string) => void;
type Entry = DurableEvent<"input"> | DurableEvent<"steer"> | DurableEvent<"prompt_dropped">;

/** Everything that the log says of prompts, against everything that clients were told. */
export function checkPrompts(requests: Requests, mirror: LogMirror, violate: Violate): void {
  const prompts = requests.of("prompt");
  const entries = entriesOf(mirror);
  for (const id of new Set(prompts.map(({ target }) => target))) {
    const asked = prompts.filter(({ target }) => target === id);
    checkOutcome(id, asked, entries.get(id) ?? [], mirror, violate);
    checkAnswers(id, asked, entries.get(id) ?? [], violate);
  }
  for (const id of entries.keys()) {
    if (!prompts.some(({ target }) => target === id)) violate("one-outcome", `nobody sent the prompt ${id}`);
  }
  checkOrder(prompts, entries, violate);
  checkInterrupting(prompts, mirror, entries, violate);
  checkStops(requests, mirror, entries, violate);
}

function entriesOf(mirror: LogMirror): Map<string, Entry[]> {
  const entries = new Map<string, Entry[]>();
  for (const event of mirror.events) {
    if (event.type !== "input" && event.type !== "steer" && event.type !== "prompt_dropped") continue;
    entries.set(event.promptId, [...(entries.get(event.promptId) ?? []), event]);
  }
  return entries;
}

function checkOutcome(
  id: string,
  asked: readonly Asked[],
  entries: readonly Entry[],
  mirror: LogMirror,
  violate: Violate,
): void {
  const stops = mirror.events.filter((event) => event.type === "agent_stop" && event.promptIds.includes(id));
  const drops = entries.filter(({ type }) => type === "prompt_dropped");
  const outcomes = stops.length + drops.length;
  const accepted = asked.some(wasAccepted);
  // One whose every answer was lost or refused in doubt may have been accepted.
  const refused = asked.every(({ answer }) => answer?.ok === false && answer.error.code !== "internal");
  if (outcomes > 1) violate("one-outcome", `prompt ${id} has ${outcomes} outcomes`);
  if (accepted && outcomes === 0) violate("one-outcome", `prompt ${id} was accepted and has no outcome`);
  if (refused && entries.length > 0) violate("one-outcome", `prompt ${id} was refused and is in the log`);
  if (entries.length > 1) violate("one-outcome", `prompt ${id} enters ${entries.length} times`);
  const [entry] = entries;
  if (!entry || entry.type === "prompt_dropped") return;
  const text = asked.map(({ body }) => JSON.stringify([{ type: "text", text: body["text"] }]));
  if (!text.includes(JSON.stringify(entry.content)))
    violate("own-content", `prompt ${id} is not what was sent`);
  const modes = new Set(asked.map(({ body }) => body["mode"] ?? "queue"));
  if (entry.type === "steer" && !modes.has(entry.mode))
    violate("mode", `prompt ${id} enters as ${entry.mode}`);
}

/** The same prompt again is answered as before; the same id with another body never is. */
function checkAnswers(
  id: string,
  asked: readonly Asked[],
  entries: readonly Entry[],
  violate: Violate,
): void {
  const accepted = asked.filter(wasAccepted);
  const bodies = new Set(accepted.map(({ body }) => JSON.stringify(body)));
  const receipts = new Set(accepted.map(({ answer }) => JSON.stringify(answer)));
  if (bodies.size > 1) violate("idempotency", `prompt ${id} was accepted with ${bodies.size} bodies`);
  if (receipts.size > 1)
    violate("idempotency", `prompt ${id} was answered differently: ${[...receipts].join(" ")}`);
  for (const { answer } of accepted) {
    const { position, head } = answer?.ok
      ? (answer.value as { position: number; head: number })
      : { position: 1, head: 0 };
    const [entry] = entries;
    const began = entry?.type === "input" && entry.seq === head;
    if (position === 0 && !began) violate("receipt", `prompt ${id} was said to run at ${head} and does not`);
  }
}

/** Of one mode, whoever was answered first enters first. */
function checkOrder(
  prompts: readonly Asked[],
  entries: ReadonlyMap<string, Entry[]>,
  violate: Violate,
): void {
  const entered = prompts.filter(wasAccepted).flatMap((asked) => {
    const [entry] = entries.get(asked.target) ?? [];
    const sent = prompts.find(({ target }) => target === asked.target) ?? asked;
    return entry && entry.type !== "prompt_dropped" ? [{ asked, sent, seq: entry.seq }] : [];
  });
  for (const first of entered) {
    for (const second of entered) {
      const sameMode = modeOf(first.asked) === modeOf(second.asked);
      // Of a prompt that was sent again, the first time counts.
      if (!sameMode || !precedes(first.asked, second.sent) || first.seq <= second.seq) continue;
      violate("order", `prompt ${second.asked.target} overtakes ${first.asked.target}`);
    }
  }
}

/** After an interrupting prompt was accepted, the next turn is of such a prompt. */
function checkInterrupting(
  prompts: readonly Asked[],
  mirror: LogMirror,
  entries: ReadonlyMap<string, Entry[]>,
  violate: Violate,
): void {
  const modes = new Map(prompts.map((asked) => [asked.target, modeOf(asked)]));
  for (const asked of prompts.filter((one) => wasAccepted(one) && modeOf(one) === "interrupt")) {
    const [entry] = entries.get(asked.target) ?? [];
    if (entry?.type !== "input") continue;
    const { head } = asked.answer?.ok ? (asked.answer.value as { head: number }) : { head: 0 };
    const between = mirror.events.filter(
      ({ seq, type }) => type === "input" && seq > head && seq < entry.seq,
    );
    const overtaking = between.find(
      (event) => event.type === "input" && modes.get(event.promptId) !== "interrupt",
    );
    if (overtaking)
      violate("order", `turn ${overtaking.turn} comes before the interrupting prompt ${asked.target}`);
  }
}

/** What an answered stop or withdrawal promised. */
function checkStops(
  requests: Requests,
  mirror: LogMirror,
  entries: ReadonlyMap<string, Entry[]>,
  violate: Violate,
): void {
  for (const asked of requests.of("interrupt").filter(wasAccepted)) {
    const { interrupted, turn } = asked.answer?.ok
      ? (asked.answer.value as { interrupted: boolean; turn: number })
      : { interrupted: false, turn: 0 };
    if (!interrupted) continue;
    const written = mirror.interrupts.get(turn);
    if (written === undefined || written > asked.headThen)
      violate("stop", `turn ${turn} was not stopped when it was said so`);
    if (asked.body["clearQueue"] !== true) continue;
    const waiting = requests.of("prompt").filter((prompt) => wasAccepted(prompt) && precedes(prompt, asked));
    for (const { target } of waiting) {
      const later = entries
        .get(target)
        ?.some(({ seq, type }) => type !== "prompt_dropped" && seq > asked.headThen);
      if (later) violate("stop", `prompt ${target} runs though the queue was cleared before`);
    }
  }
  for (const asked of requests.of("withdraw").filter(wasAccepted)) {
    const [entry] = entries.get(asked.target) ?? [];
    const kept = entry?.type === "prompt_dropped" && entry.seq <= asked.headThen;
    if (!kept) violate("withdraw", `prompt ${asked.target} was withdrawn and is not dropped`);
  }
}

function modeOf({ body }: Asked): string {
  const mode = (body["mode"] as string | undefined) ?? "queue";
  return mode === "reject" ? "queue" : mode;
}
