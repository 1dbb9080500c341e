import * as z from "zod";
import type { Random } from "./random.ts";

const MARK = "plan:";

/** Stands in planned arguments for what the fake model makes unique in each reply. */
export const NONCE = "{nonce}";

/** The file that all edits of a workspace go to; its last line is `END`. */
export const NOTES = "notes.txt";

const plannedStep = z.object({
  text: z.array(z.string()),
  thought: z.array(z.string()),
  calls: z.array(z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) })),
  delayMs: z.int(),
  /** What goes wrong with the first request of the step. */
  fault: z.enum(["none", "refused", "cut"]),
});
export type PlannedStep = z.infer<typeof plannedStep>;
type PlannedCall = PlannedStep["calls"][number];

const planSchema = z.object({ session: z.string(), prompt: z.string(), steps: z.array(plannedStep) });
/** What the fake model is to do for a prompt. It travels in the prompt's text, so that the model needs no state. */
export type Plan = z.infer<typeof planSchema>;

export function textOfPlan(plan: Plan): string {
  return MARK + JSON.stringify(plan);
}

/** The plan in the text of a user message; null when there is none. */
export function planOf(text: string): Plan | null {
  return text.startsWith(MARK) ? planSchema.parse(JSON.parse(text.slice(MARK.length))) : null;
}

/** A plan of up to three steps with tools and one that answers. */
export function randomPlan(random: Random, session: string, prompt: string): Plan {
  const working = random.weighted({ 0: 30, 1: 35, 2: 25, 3: 10 });
  const steps = Array.from({ length: Number(working) }, () => randomStep(random, randomCalls(random)));
  return { session, prompt, steps: [...steps, randomStep(random, [])] };
}

function randomStep(random: Random, calls: PlannedCall[]): PlannedStep {
  const pieces = calls.length > 0 ? random.int(0, 3) : random.int(1, 12);
  return {
    text: Array.from({ length: pieces }, () => `${random.pick(WORDS)} `),
    thought: random.chance(0.3) ? [random.pick(WORDS), " then ", random.pick(WORDS)] : [],
    calls,
    delayMs: random.pick([0, 2, 5, 20, 50, 100]),
    fault: random.weighted({ none: 90, refused: 5, cut: 5 }),
  };
}

const WORDS = ["alpha", "beta", "gamma", "délta", "ε", "one\nline", "🙂🙂", "zeta"];

/** The calls of one step: mostly changes of files, since their effects can be counted. */
function randomCalls(random: Random): PlannedCall[] {
  const kind = random.weighted({ write: 15, parallel: 35, edit: 15, mixed: 15, person: 20 });
  switch (kind) {
    case "write":
      return [write(random, `files/${random.int(0, 5)}.txt`)];
    case "parallel":
      return Array.from({ length: random.int(2, 20) }, () => write(random, `files/${random.int(0, 9)}.txt`));
    case "edit":
      return Array.from({ length: random.int(1, 2) }, edit);
    case "mixed":
      return [...random.pick(READS), write(random, "files/mixed.txt"), edit(), ...random.pick(WRONG)];
    case "person":
      return random.pick([
        [write(random, `guarded/${random.int(0, 3)}.txt`)],
        [write(random, "guarded/a.txt"), write(random, "guarded/b.txt"), edit()],
        [write(random, "forbidden/x.txt"), write(random, "files/0.txt")],
        [{ name: "ask_user", args: { question: "Which one?", options: ["left", "right"] } }],
        [{ name: "ask_user", args: { question: "What next?" } }, write(random, "guarded/c.txt")],
      ]);
  }
}

function write(random: Random, path: string): PlannedCall {
  const content = `${NONCE}\n${"padding ".repeat(random.pick([0, 0, 10, 1000]))}`;
  return { name: "write_file", args: { path, content, _intent: "to write" } };
}

/** Adds a line, so that an edit that is made twice shows in the file. */
function edit(): PlannedCall {
  return { name: "edit_file", args: { path: NOTES, edits: [{ old: "END\n", new: `${NONCE}\nEND\n` }] } };
}

const READS: PlannedCall[][] = [
  [{ name: "read_file", args: { path: NOTES } }],
  [
    { name: "grep", args: { pattern: "n[0-9]+x", path: "files" } },
    { name: "tree", args: {} },
  ],
  [{ name: "glob", args: { pattern: "**/*.txt" } }],
];

const WRONG: PlannedCall[][] = [
  [],
  [{ name: "no_such_tool", args: {} }],
  [{ name: "read_file", args: { path: 7 } }],
  [{ name: "read_file", args: { path: "../outside" } }],
];
