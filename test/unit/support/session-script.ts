import fc from "fast-check";

/** One call of a reply and all that becomes of it. What rules itself out is left out by the writer. */
export interface CallScript {
  readonly malformed: boolean;
  readonly approval: "allow" | "deny" | "expired" | "cancelled" | null;
  readonly decision: "allow" | "deny" | null;
  readonly starts: boolean;
  readonly questions: readonly ("answered" | "cancelled")[];
  readonly recovered: "found" | "reran" | "unknown" | null;
  readonly isError: boolean;
}

export interface BlockScript {
  readonly kind: "thought" | "output";
  readonly text: string;
  readonly signed: boolean;
}

export interface StepScript {
  readonly before: readonly ("steer" | "follow_up" | "background" | "summary")[];
  readonly blocks: readonly BlockScript[];
  readonly calls: readonly CallScript[];
  /** Whose event comes next while several calls run. */
  readonly order: readonly number[];
  readonly attempt: number;
  readonly cutByLength: boolean;
}

export interface TurnScript {
  readonly kind: "turn";
  readonly source: "user" | "system" | "background";
  readonly steps: readonly StepScript[];
  readonly ending: "stop" | "interrupt" | "error" | "max_steps" | "budget";
  /** For an interrupt: after how many events of the last step's calls; beyond them, in the next model call. */
  readonly cutAfter: number;
  /** What had been shown of the reply that was cut; nothing without it. */
  readonly cutReply: readonly BlockScript[];
}

/** What can happen between turns. */
export type PauseScript =
  | { readonly kind: "drop" }
  | { readonly kind: "summary"; readonly through: number }
  | { readonly kind: "restore"; readonly to: number; readonly conversation: boolean };

/** A session as data, small and easy to shrink; `writeLog` makes the log of it. */
export interface SessionScript {
  readonly items: readonly (TurnScript | PauseScript)[];
  /** What slips in between commits, over and over: 1 is a dropped prompt, 2 a sub-agent's event, all else nothing. */
  readonly asides: readonly number[];
}

// Without fast-check's bias towards 0, which would restore to the beginning nearly always.
const nat = fc.noBias(fc.nat({ max: 1_000 }));
/** One of the rare values once in five times. */
function mostly<T>(usual: T, ...rare: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );
}

const texts = fc.string({ unit: "binary", maxLength: 12 });

const blocks: fc.Arbitrary<BlockScript> = fc.record({
  kind: fc.constantFrom("thought", "output"),
  text: texts,
  signed: fc.boolean(),
});

const calls: fc.Arbitrary<CallScript> = fc.record({
  malformed: mostly(false, true),
  approval: fc.oneof(
    fc.constant(null),
    mostly<CallScript["approval"]>("allow", "deny", "expired", "cancelled"),
  ),
  decision: fc.oneof(fc.constant(null), mostly<CallScript["decision"]>("allow", "deny")),
  starts: mostly(true, false),
  questions: fc.array(fc.constantFrom("answered", "cancelled"), { maxLength: 2 }),
  recovered: fc.constantFrom(null, null, "found", "reran", "unknown"),
  isError: fc.boolean(),
});

const steps: fc.Arbitrary<StepScript> = fc.record({
  before: fc.array(fc.constantFrom("steer", "follow_up", "background", "summary"), { maxLength: 2 }),
  blocks: fc.array(blocks, { maxLength: 3 }),
  calls: fc.array(calls, { maxLength: 3 }),
  order: fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6 }),
  attempt: fc.constantFrom(1, 2, 1001, 2003),
  cutByLength: mostly(false, true),
});

const turns: fc.Arbitrary<TurnScript> = fc.record({
  kind: fc.constant("turn"),
  source: fc.constantFrom("user", "system", "background"),
  steps: fc.array(steps, { maxLength: 3 }),
  ending: fc.constantFrom("stop", "stop", "interrupt", "interrupt", "error", "max_steps", "budget"),
  cutAfter: fc.nat({ max: 8 }),
  cutReply: fc.array(blocks, { maxLength: 2 }),
});

const pauses: fc.Arbitrary<PauseScript> = fc.oneof(
  fc.record({ kind: fc.constant("drop") }),
  fc.record({ kind: fc.constant("summary"), through: nat }),
  fc.record({ kind: fc.constant("restore"), to: nat, conversation: fc.constantFrom(true, true, false) }),
);

export const sessionScripts: fc.Arbitrary<SessionScript> = fc.record({
  items: fc.array(fc.oneof({ weight: 3, arbitrary: turns }, { weight: 2, arbitrary: pauses }), {
    minLength: 1,
    maxLength: 9,
    size: "max",
  }),
  asides: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 12 }),
});
