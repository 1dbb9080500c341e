import { describe, expect, it } from "vitest";
import { createWorkspaceSource } from "../../../src/durable/workspace-client.ts";
import type { WorkspaceApi } from "../../../src/durable/workspace-api.ts";
import { LightAgentError } from "../../../src/runtime/protocol/errors.ts";
import type { Workspace } from "../../../src/runtime/workspace/workspace.ts";

const WRITE = [{ kind: "write", path: "a.txt", bytes: new Uint8Array(3) }] as const;
const MADE = { version: 7, paths: ["a.txt"] };
/** As the platform says that an object was taken away in the middle of a call. */
const GONE = [
  "Durable Object reset because its code was updated.",
  "This script has been upgraded. Please send a new request to connect to the new version.",
  "Network connection lost.",
];

/** A workspace as a tool's call has it, of whose object a test says what its methods do. */
function workspace(methods: Record<string, () => Promise<unknown>>): Workspace {
  const source = { session: "s", turn: 1, wakes: 0, callId: "call_1_1_0" };
  const by = { kind: "user", id: "alice" } as const;
  return createWorkspaceSource(methods as unknown as WorkspaceApi).open({ writer: { by, source } });
}

const lost = (message: string) => () => Promise.reject(new Error(message));
const says = (value: unknown) => async () => ({ ok: true, value });

describe.each(GONE)("a workspace of which the platform says %j", (message) => {
  it("[LOG-90] has made the change that it was asked for when it says so afterwards", async () => {
    expect(await workspace({ change: lost(message), outcome: says(MADE) }).change(WRITE)).toEqual(MADE);
  });

  it.each([
    ["knows nothing of it, which may still come", says(null)],
    ["does not answer", lost(message)],
  ])("[LOG-90] leaves it unknown whether it did when it %s", async (_, outcome) => {
    const error = await workspace({ change: lost(message), outcome })
      .change(WRITE)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(LightAgentError);
    expect(error).toMatchObject({ code: "outcome_unknown" });
    expect((error as Error).message).not.toContain(message);
  });

  it("[LOG-90] is unavailable for everything else", async () => {
    const none = workspace({ stat: lost(message), version: lost(message), outcome: lost(message) });
    for (const asked of [none.stat("a.txt"), none.version(), none.outcome("call_1_1_0")]) {
      await expect(asked).rejects.toMatchObject({ code: "unavailable" });
    }
  });
});

it("[LOG-90] what a workspace refuses is refused, and was not made", async () => {
  const error = { code: "write_conflict", message: "Changed meanwhile." };
  const refusing = workspace({ change: async () => ({ ok: false, error }), outcome: says(MADE) });
  await expect(refusing.change(WRITE)).rejects.toMatchObject(error);
});
