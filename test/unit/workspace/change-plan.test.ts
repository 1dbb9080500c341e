import { expect, it } from "vitest";
import { planChange } from "../../../src/runtime/workspace/change-plan.ts";
import type { ManifestView, PlannableChange } from "../../../src/runtime/workspace/change-plan.ts";

const EMPTY: ManifestView = { file: () => undefined, below: () => [] };

it("[FILE-2] plans changes that undo one another in time in proportion to their number", () => {
  const names = Array.from({ length: 15_000 }, (_, index) => `d${index}`);
  const changes: PlannableChange[] = [
    ...names.map((name) => ({ kind: "write" as const, path: `${name}/f`, sha256: "00", size: 1 })),
    ...names.map((name) => ({ kind: "move" as const, from: name, to: `to/${name}` })),
    ...names.map((name) => ({ kind: "delete" as const, path: `to/${name}` })),
  ];
  // In quadratic time this takes longer than a test may.
  const plan = planChange(changes, EMPTY);
  expect(plan.size).toBe(2 * names.length);
  expect([...plan.values()].every((content) => content === null)).toBe(true);
});

it("[FILE-2] asks no second time for what is below a directory that has been emptied", () => {
  const stored = Array.from({ length: 1_000 }, (_, index) => `d/${index}`);
  let read = 0;
  const view: ManifestView = {
    file: (path) => (stored.includes(path) ? { sha256: "00", size: 1 } : undefined),
    *below(folder) {
      if (folder !== "d") return;
      for (const path of stored) {
        read += 1;
        yield path;
      }
    },
  };
  const again: PlannableChange[] = stored.flatMap(() => [
    { kind: "write", path: "d", sha256: "11", size: 1 },
    { kind: "delete", path: "d" },
  ]);
  const plan = planChange([{ kind: "delete", path: "d" }, ...again], view);
  expect([...plan.keys()].toSorted()).toEqual(["d", ...stored].toSorted());
  expect(read).toBe(2 * stored.length);
});
