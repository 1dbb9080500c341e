import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { LogMirror } from "./log-mirror.ts";
import type { Requests } from "./requests.ts";

/** Each restore that was answered has happened, once, to the point that was asked for, and between turns. */
export function checkRestores(
  requests: Requests,
  mirror: LogMirror,
  violate: (rule: string, message: string) => void,
): void {
  const asked = requests.of("restore");
  const seen = new Set<number>();
  for (const { answer, body } of asked) {
    if (!answer?.ok) continue;
    const { seq, toSeq } = answer.value as DurableEvent<"checkpoint_restore">;
    const text = mirror.texts[seq - 1];
    if (toSeq !== body["toSeq"] || text !== JSON.stringify(answer.value)) {
      violate("restore", `a restore to ${String(body["toSeq"])} was answered with ${seq}, which is ${text}`);
    }
    if (seen.has(seq)) violate("restore", `two restores were answered with ${seq}`);
    seen.add(seq);
  }
  const made = mirror.events.filter(({ type }) => type === "checkpoint_restore").length;
  if (made > asked.length) violate("restore", `${made} restores for ${asked.length} requests`);
}

/** The texts of people that a model may see after a prefix of the log: a restore takes it back to what it was. */
export function textsInForce(events: readonly DurableEvent[]): string[] {
  const after: string[][] = [[]];
  for (const event of events) {
    const before = after.at(-1) ?? [];
    if (event.type === "input" || event.type === "steer")
      after.push([...before, JSON.stringify(event.content)]);
    else if (event.type === "checkpoint_restore" && event.conversation) after.push(after[event.toSeq] ?? []);
    else after.push(before);
  }
  return after.at(-1) ?? [];
}
