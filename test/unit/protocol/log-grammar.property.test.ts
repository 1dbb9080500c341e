import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durablePayloads } from "../../../src/runtime/protocol/durable-events.ts";
import type { DurableType } from "../../../src/runtime/protocol/durable-events.ts";
import { durableSchema } from "../../../src/runtime/protocol/events.ts";
import { checkLog } from "../../../src/runtime/protocol/log-grammar.ts";
import { corruptLogs, cutLogs, wellFormedLogs } from "../support/log-generator.ts";
import { MUTATIONS } from "../support/log-mutations.ts";

describe("well-formed logs", () => {
  it("[LOG-1] pass the grammar at every prefix", () => {
    fc.assert(
      fc.property(cutLogs, (log) => {
        expect(checkLog(log)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("consist of events that fit their schemas, and cover every type", () => {
    const seen = new Set<string>();
    const types = Object.keys(durablePayloads) as DurableType[];
    const schemas = new Map(types.map((type) => [type, durableSchema(type)]));
    for (const log of fc.sample(wellFormedLogs, { numRuns: 200, seed: 1 })) {
      for (const event of log) {
        seen.add(event.type);
        expect(schemas.get(event.type)?.parse(event)).toEqual(event);
      }
    }
    expect([...seen].sort()).toEqual([...types].sort());
  });

  it("[LOG-1] never makes the checker throw when corrupt", () => {
    fc.assert(
      fc.property(corruptLogs, (log) => {
        expect(checkLog(log)).toBeInstanceOf(Array);
      }),
      { numRuns: 500 },
    );
  });
});

describe("one change of a well-formed log", () => {
  it.each(Object.entries(MUTATIONS))("[LOG-1] is flagged: %s", (_, { applies, mutate }) => {
    let mutants = 0;
    fc.assert(
      fc.property(wellFormedLogs, fc.noBias(fc.nat({ max: 1_000 })), (log, pick) => {
        const places = log.flatMap((_event, index) => (applies(log, index) ? [index] : []));
        const index = places[pick % places.length];
        if (index === undefined) return;
        mutants += 1;
        expect(checkLog(mutate(log, index))).not.toEqual([]);
      }),
      { numRuns: 150 },
    );
    expect(mutants).toBeGreaterThan(10);
  });
});
