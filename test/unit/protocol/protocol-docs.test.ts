import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { imagePartSchema, textPartSchema } from "../../../src/runtime/protocol/content.ts";
import {
  artifactSchema,
  durablePayloads,
  toolCallSchema,
} from "../../../src/runtime/protocol/durable-events.ts";
import { EVENT_TABLE, isDurable, isEventType } from "../../../src/runtime/protocol/events.ts";
import { clientFrameSchema, partialBlockSchema } from "../../../src/runtime/protocol/frames.ts";
import { CLOSE } from "../../../src/runtime/protocol/websocket.ts";
import { livePayloads } from "../../../src/runtime/protocol/live-events.ts";
import { principalSchema } from "../../../src/runtime/protocol/principal.ts";
import { usageSchema } from "../../../src/runtime/protocol/usage.ts";
import { Harness, echoTool } from "../support/agent-harness.ts";
import { describeFields } from "../support/describe-payload.ts";

const document = readFileSync("docs/protocol.md", "utf8");

/** What stands under a heading, up to the next one. */
function section(heading: string): string {
  const [, rest = ""] = document.split(`\n${heading}\n`);
  return rest.split(/\n#{1,3} /)[0] ?? "";
}

/** The cells of the first table of a section, without its head, by their first cell. */
function table(heading: string): Record<string, string[]> {
  const rows = section(heading)
    .split("\n")
    .filter((line) => line.startsWith("| ") || line.startsWith("|--"));
  const cells = rows.slice(2).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return Object.fromEntries(cells.map(([first = "", ...rest]) => [first.replaceAll("`", ""), rest]));
}

const payloadsOf = (rows: Record<string, string[]>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(rows).map(([type, [payload]]) => [type, payload]));

const describeAll = (
  schemas: Record<string, { shape: Readonly<Record<string, unknown>> }>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(schemas).map(([type, { shape }]) => [type, describeFields(shape)]));

describe("docs/protocol.md", () => {
  it("[LOG-13] has a row for every durable event, with the payload that its schema has", () => {
    expect(payloadsOf(table("### Durable events"))).toEqual(describeAll(durablePayloads));
  });

  it("[LOG-13] has a row for every live event, with its payload and whether it comes unasked", () => {
    const rows = table("### Live events");
    expect(payloadsOf(rows)).toEqual(describeAll(livePayloads));
    const unasked = Object.entries(rows)
      .filter(([, cells]) => cells[2] === "yes")
      .map(([type]) => type);
    const expected = [...EVENT_TABLE].filter(([, row]) => row.live && row.default).map(([type]) => type);
    expect(unasked.sort()).toEqual(expected.sort());
  });

  it("[LOG-13] says when each event comes", () => {
    const rows = [...Object.values(table("### Durable events")), ...Object.values(table("### Live events"))];
    expect(rows.filter(([, when = ""]) => when.length < 10)).toEqual([]);
  });

  it("[LOG-13] describes the shapes that events share", () => {
    expect(payloadsOf(table("### Shared shapes"))).toEqual(
      describeAll({
        principal: principalSchema,
        usage: usageSchema,
        call: toolCallSchema,
        artifact: artifactSchema,
        text: textPartSchema,
        image: imagePartSchema,
      }),
    );
  });

  it("[LOG-13] describes the frames of a client, of a server, and the close codes", () => {
    const frames = clientFrameSchema.options.map((option) => {
      const { type, ...fields } = option.shape;
      return [type.value, describeFields(fields)];
    });
    expect(payloadsOf(table("### Frames of the client"))).toEqual(Object.fromEntries(frames));
    expect(Object.keys(table("### Frames of the server"))).toEqual([
      "hello",
      "events",
      "live",
      "ack",
      "nack",
      "sync",
      "any other",
    ]);
    expect(table("### Frames of the server")["live"]?.[1]).toContain(
      `{ ${describeFields(partialBlockSchema.shape)} }`,
    );
    const codes = Object.keys(table("### Close codes")).map(Number);
    expect(codes).toEqual(Object.values(CLOSE).sort((left, right) => left - right));
  });

  it("[LOG-13] draws a turn in the order in which one really happens", async () => {
    const { tool } = echoTool();
    const call = { name: "echo", args: { text: "a", _intent: "to see" } };
    const h = new Harness([{ thought: "hm", text: "I will look.", calls: [call, call] }, { text: "done" }], {
      tools: [tool],
    });
    await h.start("go");
    await h.finish();
    expect(h.violations()).toEqual([]);
    const told = h.told.map((event) => `${isDurable(event) ? "●" : "○"} ${event.type}`);
    const once = told.filter((line, index) => !line.endsWith("_delta") || line !== told[index - 1]);
    const [drawing = ""] = section("## One turn").split("```").slice(1);
    expect(drawing.match(/[●○] \w+/g)).toEqual(once);
  });

  it("draws nothing but events", () => {
    const names = [...document.matchAll(/[●○] ([a-z_]+)/g)].map(([, name = ""]) => name);
    expect(names.filter((name) => !isEventType(name))).toEqual([]);
  });
});

const VOCABULARIES = {
  "### light-agent": [
    "input",
    "thought",
    "thought_delta",
    "tool_calls",
    "tool_result",
    "output",
    "output_delta",
    "agent_stop",
    "agent_trace",
    "agent_summary",
    "AGENT_TRACE",
    "AGENT_SUMMARY",
    "meta.roundId",
    "meta.turn",
    "agent_start",
    "tool_results",
    "Vender.Adaptor",
    "currentWindowTokens",
  ],
  "### lite-agent": [
    "turn_start",
    "model_call_start",
    "model_call_end",
    "text_delta",
    "message",
    "tool_use",
    "tool_call_start",
    "tool_call_end",
    "tool_recovered",
    "tool_result",
    "permission_decision",
    "approval_request",
    "approval_resolved",
    "input_request",
    "input_resolved",
    "steer",
    "compaction",
    "context_status",
    "background_completed",
    "diagnostic",
    "turn_end",
    "error",
    "done",
    "checkpoint_restore",
    "agentId",
    "ctx.emit(event)",
  ],
  "### building-agents-from-scratch": [
    "agentStart",
    "turnStart",
    "rateLimitWait",
    "textDelta",
    "thinkingDelta",
    "toolArgumentsDelta",
    "message",
    "usage",
    "text",
    "thinking",
    "toolStart",
    "toolEnd",
    "turnEnd",
    "agentEnd",
    "TraceSpanRecord",
  ],
};

describe("the names of other vocabularies", () => {
  it.each(Object.entries(VOCABULARIES))("[LOG-13] are all mapped: %s", (heading, names) => {
    const theirs = section(heading)
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .map((row) => row.split("|")[1] ?? "");
    const spans = theirs.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
    expect(names.filter((name) => !spans.includes(name))).toEqual([]);
  });

  it.each(Object.keys(VOCABULARIES))("[LOG-13] lead to names that there are: %s", (heading) => {
    const rows = section(heading)
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .slice(1);
    const ours = rows.map((row) => row.split("|")[2] ?? "");
    const snake = ours.flatMap((cell) =>
      [...cell.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = ""]) => name),
    );
    const values = new Set(["max_steps", "rate_limit_wait", "max_turns"]);
    expect(snake.length).toBeGreaterThan(5);
    expect(snake.filter((name) => !isEventType(name) && !values.has(name))).toEqual([]);
  });
});
