import { describe, expect, it } from "vitest";
import { Artifacts } from "../../../src/durable/artifacts.ts";
import { ObjectStorage } from "../../../src/durable/object-storage.ts";
import { DEFAULT_LIMITS } from "../../../src/runtime/protocol/limits.ts";
import { FakeBucket } from "./fake-bucket.ts";

const LIMIT = DEFAULT_LIMITS.inlineStringBytes;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function artifacts(limit = LIMIT): { kept: Artifacts; files: FakeBucket } {
  const files = new FakeBucket();
  return { kept: new Artifacts(new ObjectStorage(files.bucket, "t/acme/s/one/a/"), limit), files };
}

/** The two ends that a kept text consists of, and what it says between them. */
function endsOf(content: string): { head: string; note: string; tail: string } {
  const [, head = "", note = "", tail = ""] = /^(.*)\n\[… (.*?) …\]\n(.*)$/s.exec(content) ?? [];
  return { head, note, tail };
}

describe("a result that is too long for the log", () => {
  it("[LOG-31] of 5 MB is whole in the storage, and both of its ends in the log", async () => {
    const { kept, files } = artifacts();
    const lines = Array.from({ length: 50_000 }, (_, line) => `${line} ${"x".repeat(100)}`);
    const content = lines.join("\n");
    expect(utf8(content).length).toBeGreaterThan(5_000_000);
    const result = await kept.keep({ content, isError: true, code: "tool_failed" }, "call_1_1_0");
    const size = utf8(content).length;
    expect(result).toMatchObject({
      isError: true,
      code: "tool_failed",
      artifact: { ref: "call_1_1_0", size, mediaType: "text/plain; charset=utf-8" },
    });
    const stored = files.objects.get("t/acme/s/one/a/call_1_1_0") ?? [];
    expect(Buffer.from(stored).equals(utf8(content))).toBe(true);
    const { head, note, tail } = endsOf(result.content);
    expect([head, tail]).toEqual([content.slice(0, LIMIT / 2), content.slice(-LIMIT / 8)]);
    expect(note).toBe(`${size - (LIMIT * 5) / 8} bytes left out; the whole is artifact call_1_1_0`);
    for (const [range, span] of [
      ["bytes=10-19", content.slice(10, 20)],
      ["bytes=-7", content.slice(-7)],
      [null, content],
    ] as const) {
      const response = await kept.respond(result.artifact ?? { ref: "", size: 0, mediaType: "" }, range);
      expect(response.status).toBe(range === null ? 200 : 206);
      expect((await response.text()) === span).toBe(true);
    }
  });

  it.each([
    ["ASCII", "x"],
    ["two bytes", "é"],
    ["three bytes", "語"],
    ["four bytes, two units", "😀"],
  ])(
    "[LOG-81] leaves less in the log than a string may have, whatever it is written in: %s",
    async (_, unit) => {
      const { kept } = artifacts();
      // From one byte too many on, so also where its ends nearly meet.
      for (const bytes of [LIMIT + 1, LIMIT + 4_000, LIMIT * 3]) {
        const content = unit.repeat(Math.ceil(bytes / utf8(unit).length));
        const { head, note, tail } = endsOf((await kept.keep({ content }, "call_1_1_0")).content);
        const ends = utf8(head).length + utf8(tail).length;
        expect(ends).toBeLessThan(LIMIT);
        expect(note).toBe(`${utf8(content).length - ends} bytes left out; the whole is artifact call_1_1_0`);
        expect(content.startsWith(head) && content.endsWith(tail)).toBe(true);
      }
    },
  );

  it("[LOG-81] is cut between characters, wherever the cut falls", async () => {
    const { kept } = artifacts(64);
    for (let shift = 0; shift < 8; shift += 1) {
      const content = `\ufeff${"x".repeat(shift)}${"😀".repeat(100)}`;
      const { head, tail } = endsOf((await kept.keep({ content }, "call_1_1_0")).content);
      expect(content.startsWith(head) && content.endsWith(tail)).toBe(true);
      expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
      expect(head.length > 0 && tail.length > 0).toBe(true);
    }
  });

  it("[LOG-81] keeps its ends and says that the middle is lost when the storage fails", async () => {
    const { kept, files } = artifacts();
    files.failure = new Error("R2 10001: secret detail");
    const result = await kept.keep({ content: "x".repeat(LIMIT * 2) }, "call_1_1_0");
    expect(result.artifact).toBeUndefined();
    const { head, note, tail } = endsOf(result.content);
    expect(note).toMatch(/^\d+ bytes left out; the whole could not be kept$/);
    expect(head.length + tail.length).toBe((LIMIT * 5) / 8);
    expect(result.content).not.toContain("secret");
  });
});

it.each(["x".repeat(LIMIT), "語".repeat(LIMIT / 3), ""])(
  "[LOG-81] a result within the limit stays as it is",
  async (content) => {
    const { kept, files } = artifacts();
    const result = { content, workspaceVersion: 3 };
    expect(await kept.keep(result, "call_1_1_0")).toBe(result);
    expect(files.objects.size).toBe(0);
  },
);
