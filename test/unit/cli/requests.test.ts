import { expect, it } from "vitest";
import { ask } from "../../../cli/requests.ts";
import { printable } from "../../../cli/printable.ts";
import type { CallRequest, Entry } from "../../../client/index.ts";

const CALL = { id: "c1", name: "write_file", args: { path: "a.txt" } };
const APPROVAL: CallRequest = { kind: "approval", approvalId: "a1", expiresAt: 1 };
const QUESTION: CallRequest = {
  kind: "question",
  inputId: "i1",
  question: "Which?",
  options: ["red", "blue"],
  multiSelect: false,
};

/** A session that asks one thing, until `settle` is called. */
function asking(request: CallRequest) {
  let listener: () => void = () => undefined;
  const call: Entry = { kind: "call", key: "c", call: CALL, request, status: "asking", result: null };
  const store = {
    value: {
      turns: [{ turn: 1, running: true, entries: [call], undone: false }],
      deciding: new Set<string>(),
    },
    subscribe: (given: () => void) => {
      listener = given;
      return () => undefined;
    },
    settle: () => {
      store.value = { ...store.value, turns: [] };
      listener();
    },
  };
  return store;
}

/** What a person hears and sends who answers a request so. */
async function answered(request: CallRequest, answer: string): Promise<{ said: string[]; sent: unknown[] }> {
  const said: string[] = [];
  const sent: unknown[] = [];
  const store = {
    ...asking(request),
    decide: async (...decision: unknown[]) => void sent.push(decision),
    answer: async (...given: unknown[]) => void sent.push(given),
  };
  const question = async (text: string): Promise<string> => {
    said.push(text);
    return answer;
  };
  await ask({ call: CALL, request }, store, { say: (text) => void said.push(text), question });
  return { said, sent };
}

it("[CLI-7] an approval is asked for with the call, and is allowed, always allowed or denied", async () => {
  const { said, sent } = await answered(APPROVAL, "y");
  expect(said.join("\n")).toContain("May write_file run?");
  expect(said.join("\n")).toContain("a.txt");
  expect(sent).toEqual([["a1", { decision: "allow" }]]);
  expect((await answered(APPROVAL, " Always")).sent).toEqual([["a1", { decision: "allow", remember: true }]]);
  for (const no of ["n", "", "what?", "yellow"]) {
    expect((await answered(APPROVAL, no)).sent).toEqual([["a1", { decision: "deny" }]]);
  }
});

it("[CLI-7] a question is answered by the number of a choice or in words", async () => {
  const { said, sent } = await answered(QUESTION, "2");
  expect(said.slice(0, 3)).toEqual(["? Which?", "  1. red", "  2. blue"]);
  expect(sent).toEqual([["i1", { selected: ["blue"] }]]);
  expect((await answered(QUESTION, "green")).sent).toEqual([["i1", { text: "green" }]]);
  expect((await answered(QUESTION, "3")).sent).toEqual([["i1", { text: "3" }]]);
});

it("[CLI-7] several choices are answered by their numbers", async () => {
  const several: CallRequest = { ...QUESTION, multiSelect: true };
  expect((await answered(several, "1, 2")).sent).toEqual([["i1", { selected: ["red", "blue"] }]]);
  expect((await answered(several, "1 and 2")).sent).toEqual([["i1", { text: "1 and 2" }]]);
  expect((await answered(QUESTION, "1, 2")).sent).toEqual([["i1", { text: "1, 2" }]]);
});

it("[CLI-7] what somebody else has settled is no longer asked, and no answer to it is sent", async () => {
  const sent: unknown[] = [];
  const said: string[] = [];
  const store = Object.assign(asking(APPROVAL), {
    decide: async (...decision: unknown[]) => void sent.push(decision),
    answer: async (...given: unknown[]) => void sent.push(given),
  });
  const done = ask({ call: CALL, request: APPROVAL }, store, {
    say: (text) => void said.push(text),
    question: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))),
  });
  store.settle();
  await done;
  expect(sent).toEqual([]);
  expect(said.at(-1)).toContain("settled elsewhere");
});

it("[CLI-2] lets no question steer the terminal", () => {
  expect(printable("\u001b[2Jred\u009b1m\tand\nblue\r\u0007")).toBe("[2Jred1m\tand\nblue");
});
