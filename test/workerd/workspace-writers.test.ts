import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../src/runtime/protocol/sha256.ts";
import type { FileChange } from "../../src/runtime/workspace/workspace.ts";
import { Dying, steppingBucket, steppingStorage } from "./workspace-faults.ts";
import { checkInvariants } from "./workspace-invariants.ts";
import { OVER_REST, inWorkspace, texts, write } from "./workspace-rig.ts";

type Files = Readonly<Record<string, string>>;

const path = fc.constantFrom("a", "b", "d/a", "d/e/a");

/** One change of one of two writers; a conditional write expects what that writer has read last of the file. */
const change = fc.record({
  kind: fc.constantFrom("write", "write", "write", "delete", "move", "read"),
  writer: fc.constantFrom(0, 1),
  path,
  to: path,
  isConditional: fc.boolean(),
});

/** Both writers' next changes, at the same time, and the step at which the process dies, beyond the last for never. */
const round = fc.record({
  changes: fc.array(change, { minLength: 1, maxLength: 2 }),
  dies: fc.nat({ max: 60 }),
});

interface Attempt {
  readonly change: FileChange;
  /** The text that the writer believes the file to have; null for none, undefined where it does not care. */
  readonly believed: string | null | undefined;
}

/** The same in a plain map; null where the change cannot be made. The paths lead to no file and folder of one name. */
function applied(files: Files, { change: made, believed }: Attempt): Files | null {
  const next: Record<string, string> = { ...files };
  if (made.kind === "write") {
    if (believed !== undefined && believed !== (files[made.path] ?? null)) return null;
    return { ...next, [made.path]: new TextDecoder().decode(made.bytes) };
  }
  const from = made.kind === "move" ? made.from : made.path;
  const text = files[from];
  if (text === undefined) return null;
  if (made.kind === "delete") {
    delete next[from];
    return next;
  }
  if (files[made.to] !== undefined) return null;
  delete next[from];
  return { ...next, [made.to]: text };
}

/** All that may be there afterwards: each attempt, in any order, made or, if its process died, perhaps not. */
function possible(
  files: Files,
  attempts: readonly (Attempt & { outcome: "made" | "refused" | "died" })[],
): Files[] {
  if (attempts.length === 0) return [files];
  return attempts.flatMap((attempt, index) => {
    const others = attempts.filter((_, other) => other !== index);
    const after = applied(files, attempt);
    const made = after && attempt.outcome !== "refused" ? possible(after, others) : [];
    const isWithout = attempt.outcome === "died" || (attempt.outcome === "refused" && after === null);
    return [...made, ...(isWithout ? possible(files, others) : [])];
  });
}

const sorted = (files: Files): string =>
  JSON.stringify(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1)));

describe("two writers whose process may die at any step", () => {
  it("[FILE-4] [FILE-24] leave what a plain map would hold, or hear of the conflict", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 12 }), async (rounds) => {
        let dying = new Dying(Number.POSITIVE_INFINITY);
        const step = (): void => dying.step();
        await inWorkspace(
          async (rig) => {
            let files: Files = {};
            let texted = 0;
            const read = [new Map<string, string>(), new Map<string, string>()];
            for (const { changes, dies } of rounds) {
              const attempts: Attempt[] = [];
              for (const { kind, writer, path: at, to, isConditional } of changes) {
                const known = read[writer];
                if (kind === "read") known?.set(at, files[at] ?? "");
                else if (kind === "delete")
                  attempts.push({ change: { kind, path: at }, believed: undefined });
                else if (kind === "move")
                  attempts.push({ change: { kind, from: at, to }, believed: undefined });
                else {
                  // An empty text stands for none: no file is empty here.
                  const believed = isConditional ? known?.get(at) || null : undefined;
                  const ifMatch = believed ? await sha256Of(believed) : believed;
                  texted += 1;
                  attempts.push({ change: write(at, `text ${texted}`, ifMatch), believed });
                }
              }
              dying = new Dying(dies + 1);
              const { writer } = rig.enter();
              const outcomes = await Promise.all(
                attempts.map(async (attempt) =>
                  writer.change("main", OVER_REST, [attempt.change]).then(
                    () => "made" as const,
                    () => (dying.isDead ? ("died" as const) : ("refused" as const)),
                  ),
                ),
              );
              dying = new Dying(Number.POSITIVE_INFINITY);
              for (const outcome of outcomes) seen.add(outcome);
              const found = await texts(rig.restart());
              const expected = possible(
                files,
                attempts.map((attempt, index) => ({ ...attempt, outcome: outcomes[index] ?? "died" })),
              );
              expect(expected.map(sorted)).toContain(sorted(found));
              files = found;
            }
            await checkInvariants(rig);
          },
          {
            bucket: (bucket) => steppingBucket(bucket, step, step),
            storage: (storage) => steppingStorage(storage, step),
          },
        );
      }),
      { numRuns: 30 },
    );
    expect([...seen].toSorted()).toEqual(["died", "made", "refused"]);
  }, 60_000);
});

async function sha256Of(text: string): Promise<string> {
  return sha256Hex(text);
}
