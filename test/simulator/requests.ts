import type { Answer } from "../../src/runtime/protocol/answer.ts";
import type { Principal } from "../../src/runtime/protocol/principal.ts";

export type AskedKind = "prompt" | "interrupt" | "withdraw" | "decide" | "answer" | "restore" | "compact";

/** Something that a client has asked of the session, and what it was told. */
export interface Asked {
  readonly kind: AskedKind;
  /** Of what: a prompt, an approval, a question; empty for the session itself. */
  readonly target: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly by: Principal;
  /** Counts every request and every answer, so that "before" has a meaning. */
  readonly sentAt: number;
  answeredAt: number | null;
  /** The head of the log in storage when the answer left. */
  headThen: number;
  /** Null while there is none; a lost one may have been carried out or not. */
  answer: Answer<unknown> | null;
}

/** All requests of a world, in the order in which they were sent. */
export class Requests {
  readonly all: Asked[] = [];
  #moment = 0;

  ask(kind: AskedKind, target: string, body: Asked["body"], by: Principal): Asked {
    this.#moment += 1;
    const asked: Asked = {
      kind,
      target,
      body,
      by,
      sentAt: this.#moment,
      answeredAt: null,
      headThen: 0,
      answer: null,
    };
    this.all.push(asked);
    return asked;
  }

  answered(asked: Asked, answer: Answer<unknown>, head: number): void {
    this.#moment += 1;
    asked.answeredAt = this.#moment;
    asked.answer = answer;
    asked.headThen = head;
  }

  of(kind: AskedKind): Asked[] {
    return this.all.filter((asked) => asked.kind === kind);
  }
}

export function wasAccepted({ answer }: Asked): boolean {
  return answer?.ok === true;
}

/** Whether one was answered before the other was sent. */
export function precedes(first: Asked, second: Asked): boolean {
  return first.answeredAt !== null && first.answeredAt < second.sentAt;
}
