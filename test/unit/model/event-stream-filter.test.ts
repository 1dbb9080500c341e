import fc from "fast-check";
import { expect, it } from "vitest";
import { EventStreamFilter } from "../../../src/runtime/model/event-stream-filter.ts";

const ALIVE = 'data: {"keep_alive":true}';
const DATA = 'data: {"a":1}\n\n';

/** What passes of a body that comes in these pieces. */
function filtered(...pieces: readonly string[]): { text: string; filter: EventStreamFilter } {
  const filter = new EventStreamFilter();
  const passed = [...pieces.map((piece) => filter.push(new TextEncoder().encode(piece))), filter.end()];
  const decoder = new TextDecoder();
  return { text: passed.map((bytes) => decoder.decode(bytes, { stream: true })).join(""), filter };
}

it.each([
  ["events with data", `${DATA}data:{"b":2}\n\n${DATA}`],
  ["CRLF", 'data: {"a":1}\r\n\r\ndata: [DONE]\r\n\r\n'],
  ["named events, ids and retries", 'event: x\nid: 3\nretry: 5\ndata: {"a":1}\n\n'],
  ["data in several lines", 'data: {"a"\ndata: :1}\n\n'],
  ["a last line without its end", "data: [DONE]"],
  ["a body that is no event stream", "<html>\n<p>data</p>\n</html>"],
])("[MODEL-12] %s pass byte for byte", (_, body) => {
  expect(filtered(body).text).toBe(body);
});

it.each([
  ["a comment", ": OPENROUTER PROCESSING\n\n"],
  ["a comment with CRLF", ": ping\r\n\r\n"],
  ["two comments", ": ping\n: pong\n\n"],
  ["an empty data line", "data:\n\n"],
  ["a data line of blanks", "data:  \n\n"],
  ["a comment inside data", "data: : ping\n\n"],
  ["a data field without colon", "data\n\n"],
])("[MODEL-12] %s becomes one chunk that says nothing", (_, body) => {
  const { text } = filtered(DATA + body + DATA);
  expect(text).toBe(`${DATA}${ALIVE}\n\n${DATA}`);
});

it("[MODEL-12] an event with a name and without data becomes one too, at the end of the body as well", () => {
  expect(filtered(`event: ping\n\n${DATA}`).text).toBe(`event: ping\n${ALIVE}\n\n${DATA}`);
  expect(filtered("event: ping\n").text).toBe(`event: ping\n${ALIVE}\n\n`);
  expect(filtered("event: ping").text).toBe(`event: ping\n${ALIVE}\n\n`);
  expect(filtered(": ping").text).toBe(`${ALIVE}\n\n`);
});

it("[MODEL-12] a comment inside an event with data vanishes", () => {
  expect(filtered(`: ping\n${DATA}`).text).toBe(DATA);
});

it("[MODEL-12] the outcome does not depend on where the bytes are cut", () => {
  const line = fc.constantFrom(
    ": ping",
    "data:",
    "data: : x",
    'data: {"a":"ž"}',
    "event: e",
    "",
    "",
    "stray",
    "data",
  );
  const body = fc.array(line).chain((lines) => fc.constantFrom("\n", "\r\n").map((end) => lines.join(end)));
  fc.assert(
    fc.property(body, fc.array(fc.nat(), { maxLength: 6 }), (text, cuts) => {
      const bytes = new TextEncoder().encode(text);
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
      const filter = new EventStreamFilter();
      const passed = places.slice(1).map((place, at) => filter.push(bytes.subarray(places[at], place)));
      const joined = Buffer.concat([...passed, filter.end()]).toString();
      expect(joined).toBe(filtered(text).text);
    }),
  );
});

it("[MODEL-7] knows whether more events of the bytes that came last are to be given out", () => {
  const filter = new EventStreamFilter();
  const push = (body: string): Uint8Array => filter.push(new TextEncoder().encode(body));
  push(`${DATA}: ping\n\n${DATA}data: {`);
  expect([filter.take(), filter.take(), filter.take()]).toEqual([true, true, false]);
  push(`"a":1}\n\n${DATA}`);
  expect(filter.take()).toBe(true);
  // Whatever was left of the bytes before, only the last count.
  push(DATA);
  expect(filter.take()).toBe(false);
});

it("[MODEL-11] knows the beginning of a body without any event", () => {
  expect(filtered('{"error":', '"x"}').filter.stray).toBe('{"error":"x"}');
  expect(filtered("stray\n", DATA).filter.stray).toBe("");
  expect(filtered("x".repeat(100_000)).filter.stray.length).toBeLessThan(20_000);
});

it("[MODEL-9] knows whether the body ended inside an event", () => {
  expect(filtered('data: {"a').filter.cut).toBe(true);
  expect(filtered(DATA).filter.cut).toBe(false);
});
