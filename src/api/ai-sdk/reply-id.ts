/** Which turn an assistant message is, and where in the log that begins. */
export interface ReplyPlace {
  readonly turn: number;
  readonly firstSeq: number;
}

const FORM = /^turn-(\d{1,15})-(\d{1,15})$/;

/** The id of the assistant message that a turn is: the same in the stream and in the history. */
export function replyIdOf({ turn, firstSeq }: ReplyPlace): string {
  return `turn-${turn}-${firstSeq}`;
}

/** The turn that an assistant message is; null for an id that is none of ours. */
export function replyPlaceOf(id: string): ReplyPlace | null {
  const [, turn, firstSeq] = FORM.exec(id) ?? [];
  const place = { turn: Number(turn), firstSeq: Number(firstSeq) };
  return place.turn >= 1 && place.firstSeq >= 1 ? place : null;
}
