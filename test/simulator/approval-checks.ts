import type { LogMirror } from "./log-mirror.ts";
import { wasAccepted } from "./requests.ts";
import type { Requests } from "./requests.ts";

/** Every answer that a person was told is the one that counts must be the one in the log. */
export function checkApprovals(
  requests: Requests,
  mirror: LogMirror,
  violate: (rule: string, message: string) => void,
): void {
  const calls = [...mirror.calls.values()];
  for (const { target, body, by } of requests.of("decide").filter(wasAccepted)) {
    const answer = calls.find(({ approval }) => approval?.id === target)?.approval?.answer;
    if (!answer) violate("approval", `${target} was decided and is open`);
    else if (answer.decision !== body["decision"])
      violate("approval", `${target} was told ${String(body["decision"])} and is ${answer.decision}`);
    else if (answer.decision === "allow" && JSON.stringify(answer.args) !== JSON.stringify(body["args"])) {
      violate("approved-args", `${target} was decided with other arguments`);
    } else if (answer.by.id !== by.id && !decidedAlike(requests, target, answer.by.id)) {
      violate("approval", `${target} names ${answer.by.id}, who did not decide it`);
    }
  }
  for (const { target, body } of requests.of("answer").filter(wasAccepted)) {
    const call = calls.find(({ question }) => question?.id === target);
    const text = call?.question?.answer?.answer?.text;
    if (text !== body["text"])
      violate("approval", `${target} was answered "${String(body["text"])}" and says "${text}"`);
    if (call?.result && call.result.content !== text)
      violate("own-result", `${call.id} does not give its answer`);
  }
  for (const call of calls) {
    const open = call.approval?.answer === null || call.question?.answer === null;
    if (open && mirror.stops.has(call.turn))
      violate("approval", `a request of ${call.id} is open in a turn that has ended`);
  }
}

function decidedAlike(requests: Requests, target: string, id: string): boolean {
  return requests.of("decide").some((asked) => asked.target === target && asked.by.id === id);
}
