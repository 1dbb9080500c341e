/** Deltas of text, `perWrite` of them in each TCP write, a pause of `everyMs` between writes (0: none). */
export interface TextScript {
  readonly kind: "text";
  readonly deltas: number;
  readonly perWrite: number;
  readonly everyMs: number;
}

/** In each of `steps` replies `calls` calls of `tool`, then a text of one delta. */
export interface StepsScript {
  readonly kind: "steps";
  readonly steps: number;
  readonly calls: number;
  readonly tool: string;
}

/** What the fake model answers; it travels as the model's name, so that the model server keeps no state. */
export type ModelScript = TextScript | StepsScript;

export function textScript(deltas: number, perWrite = 1, everyMs = 0): TextScript {
  return { kind: "text", deltas, perWrite, everyMs };
}

/** The model's name that stands for a script. */
export function scriptName(script: ModelScript): string {
  if (script.kind === "text") return `text-${script.deltas}-${script.perWrite}-${script.everyMs}`;
  return `steps-${script.steps}-${script.calls}-${script.tool}`;
}

/** @throws Error for a name that {@link scriptName} does not give */
export function parseScript(name: string): ModelScript {
  const [, deltas, perWrite, everyMs] = /^text-(\d+)-(\d+)-(\d+)$/.exec(name) ?? [];
  if (deltas !== undefined) return textScript(Number(deltas), Number(perWrite), Number(everyMs));
  const [, steps, calls, tool] = /^steps-(\d+)-(\d+)-(\w+)$/.exec(name) ?? [];
  if (steps === undefined || tool === undefined) throw new Error(`No script is named ${name}.`);
  return { kind: "steps", steps: Number(steps), calls: Number(calls), tool };
}
