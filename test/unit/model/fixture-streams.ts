import { expect } from "vitest";
import type { ModelErrorCode } from "../../../src/runtime/model/model-error.ts";
import recorded from "../../fixtures/model-streams.json" with { type: "json" };
import { shownText } from "./streamed.ts";
import type { Streamed } from "./streamed.ts";

interface ExpectedCall {
  readonly id: string;
  readonly name: string;
  readonly input?: Readonly<Record<string, unknown>>;
  /** Why the call must not run. */
  readonly bad?: string;
}

interface Expected {
  readonly text: string;
  readonly stop?: string;
  readonly think?: string;
  readonly calls?: readonly ExpectedCall[];
  readonly usage?: readonly [input: number, output: number] | null;
  readonly error?: string;
  readonly status?: number;
}

interface FixtureStream {
  readonly name: string;
  /** Null: the socket is destroyed after the first delta. */
  readonly body: string | null;
  readonly expect: Expected;
}

/** Recorded bodies of compatible servers, with what each must come to. */
export const FIXTURE_STREAMS: readonly FixtureStream[] = Object.entries(
  recorded as unknown as Record<string, Omit<FixtureStream, "name">>,
).map(([name, stream]) => ({ name, ...stream }));

/** Those with a body. */
export const FIXTURE_BODIES = FIXTURE_STREAMS.flatMap((stream) =>
  stream.body === null ? [] : [{ ...stream, body: stream.body }],
);

/** What the file calls the errors. */
const ERROR_CODES: Readonly<Record<string, ModelErrorCode>> = {
  incomplete_stream: "incomplete_stream",
  provider_error: "model_unavailable",
  error: "model_error",
  transport: "model_transport",
};

/** The call ids that a server really sent: others are generated, and only their uniqueness counts. */
const SENT_ID = /^c\d+$/;

/** Fails unless a stream came to what the file says. */
export function expectOutcome(streamed: Streamed, expected: Expected): void {
  const { deltas, reply, error } = streamed;
  expect(shownText(deltas, "text")).toBe(expected.text);
  if (expected.error !== undefined) {
    expect(error?.modelCode).toBe(ERROR_CODES[expected.error]);
    if (expected.status !== undefined) expect(error?.status).toBe(expected.status);
    expect(reply).toBeNull();
    return;
  }
  expect(error).toBeNull();
  expect(reply?.finishReason).toBe(expected.stop);
  expect(reply?.blocks.find((block) => block.kind === "text")?.text ?? "").toBe(expected.text);
  expect(reply?.blocks.find((block) => block.kind === "thought")?.text).toBe(expected.think);
  expect(reply?.usage && [reply.usage.input, reply.usage.output]).toEqual(expected.usage);
  expectCalls(streamed, expected.calls ?? []);
}

function expectCalls({ reply }: Streamed, expected: readonly ExpectedCall[]): void {
  const calls = reply?.calls ?? [];
  expect(calls.map((call) => call.name)).toEqual(expected.map((call) => call.name));
  expect(new Set(calls.map((call) => call.providerId)).size).toBe(calls.length);
  for (const [position, call] of calls.entries()) {
    const { id = "", input = {}, bad } = expected[position] ?? {};
    if (SENT_ID.test(id)) expect(call.providerId).toBe(id);
    expect(call.args).toEqual(input);
    expect(call.malformed !== undefined).toBe(bad !== undefined);
  }
}
