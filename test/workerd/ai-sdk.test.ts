import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import type { UIMessage } from "ai";
import { beforeAll, describe, expect, it } from "vitest";
import { ORIGIN } from "./api-client.ts";
import { Product } from "./product.ts";
import type { TestSession } from "./product.ts";

const WAIT = { timeout: 15_000 };
const write = (path: string) => ({ name: "write_file", args: { path, content: path, _intent: "to write" } });

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

/** What `useChat` drives, against the product: nothing of it is replaced but the network. */
function chatOf(session: TestSession, messages: UIMessage[] = [], credential = product.key): Chat<UIMessage> {
  return new Chat<UIMessage>({
    id: session.id,
    messages,
    transport: new DefaultChatTransport({
      api: `${ORIGIN}${session.path}/ai-sdk`,
      headers: { authorization: `Bearer ${credential}` },
      fetch: (url, init) => product.fetch(new Request(url).url.slice(ORIGIN.length), init),
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

async function historyOf(session: TestSession): Promise<UIMessage[]> {
  const { body } = await product.call<{ data: UIMessage[] }>("GET", `${session.path}/ai-sdk/messages`);
  return body.data;
}

const partsOf = (chat: Chat<UIMessage>): UIMessage["parts"] => chat.messages.at(-1)?.parts ?? [];

describe("the AI SDK's useChat", () => {
  it("[AISDK-1] shows a turn with a tool's call, its result and the text, and the history is the same", async () => {
    const session = await product.session([
      { text: ["Let me ", "see."], calls: [write("a.txt")] },
      { text: ["Do", "ne."] },
    ]);
    const chat = chatOf(session);
    await chat.sendMessage({ text: "write" });
    expect(chat.error).toBeUndefined();
    expect(chat.status).toBe("ready");
    expect(partsOf(chat)).toMatchObject([
      { type: "step-start" },
      { type: "text", text: "Let me see.", state: "done" },
      { type: "tool-write_file", state: "output-available", input: { path: "a.txt" } },
      { type: "step-start" },
      { type: "text", text: "Done.", state: "done" },
    ]);
    const [user, reply] = chat.messages;
    expect([user?.role, reply?.role, reply?.id]).toEqual(["user", "assistant", "turn-1-1"]);
    const history = await historyOf(session);
    expect(history).toEqual(JSON.parse(JSON.stringify(chat.messages)));
  });

  it("[AISDK-3] an approval is asked in the tool's part, and the answer in the next request lets the turn go on", async () => {
    const session = await product.session([{ calls: [write("a.txt"), write("b.txt")] }, { text: ["done"] }], {
      policy: { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] },
    });
    const chat = chatOf(session);
    await chat.sendMessage({ text: "write" });
    expect(partsOf(chat)).toMatchObject([
      { type: "step-start" },
      { state: "approval-requested", approval: { id: "approval_call_1_1_0" } },
      { state: "approval-requested", approval: { id: "approval_call_1_1_1" } },
    ]);
    await chat.addToolApprovalResponse({ id: "approval_call_1_1_0", approved: true });
    await chat.addToolApprovalResponse({
      id: "approval_call_1_1_1",
      approved: false,
      reason: "not that one",
    });
    await expect.poll(() => chat.status === "ready" && partsOf(chat).at(-1)?.type, WAIT).toBe("text");
    expect(chat.error).toBeUndefined();
    expect(partsOf(chat)).toMatchObject([
      { type: "step-start" },
      { state: "output-available", input: { path: "a.txt" }, approval: { approved: true } },
      { state: "output-denied", approval: { approved: false, reason: "not that one" } },
      { type: "step-start" },
      { type: "text", text: "done" },
    ]);
    expect(await historyOf(session)).toEqual(JSON.parse(JSON.stringify(chat.messages)));
    expect(chat.messages).toHaveLength(2);
  });

  it("[AISDK-5] a question is answered by the output of its call", async () => {
    const session = await product.session(
      [
        { calls: [{ name: "ask_user", args: { question: "Which?", _intent: "to know" } }] },
        { text: ["I see"] },
      ],
      { tools: ["ask_user"] },
    );
    const chat = chatOf(session);
    await chat.sendMessage({ text: "ask me" });
    expect(chat.error).toBeUndefined();
    const [, asking] = partsOf(chat);
    expect(asking).toMatchObject({
      type: "tool-ask_user",
      state: "input-available",
      input: { question: "Which?" },
    });
    await chat.addToolOutput({ tool: "ask_user", toolCallId: "call_1_1_0", output: "the second" });
    await chat.sendMessage();
    expect(chat.error).toBeUndefined();
    expect(partsOf(chat).at(-1)).toMatchObject({ type: "text", text: "I see" });
    const log = await session.ended();
    expect(log.find(({ type }) => type === "input_resolved")).toMatchObject({
      answer: { text: "the second" },
    });
  });

  it("[AISDK-6] a page that comes later is shown the turn that runs from its beginning, and nothing between turns", async () => {
    const session = await product.session([
      { text: ["Let me."], calls: [write("a.txt")] },
      { text: ["A long ", "answer"], ending: "hang" },
    ]);
    const early = chatOf(session);
    await early.resumeStream();
    expect([early.status, early.messages]).toEqual(["ready", []]);
    const first = chatOf(session);
    const sent = first.sendMessage({ text: "write" });
    await expect
      .poll(() => partsOf(first).at(-1), WAIT)
      .toMatchObject({ type: "text", text: "A long answer" });
    const late = chatOf(session, await historyOf(session));
    const resumed = late.resumeStream();
    await expect
      .poll(() => partsOf(late).at(-1), WAIT)
      .toMatchObject({ type: "text", text: "A long answer" });
    expect(late.messages).toEqual(first.messages);
    await product.call("POST", `${session.path}/interrupt`, { reason: "enough" });
    await Promise.all([sent, resumed]);
    expect([first.status, first.error, late.status, late.error]).toEqual([
      "ready",
      undefined,
      "ready",
      undefined,
    ]);
    expect(late.messages).toEqual(first.messages);
    expect(await historyOf(session)).toEqual(JSON.parse(JSON.stringify(late.messages)));
    await session.ended();
  });

  it("[AISDK-7] a turn that fails is an error with its code and nothing of its insides, and its text stays", async () => {
    const session = await product.session([{ text: ["Half of"], ending: "break" }], { maxSteps: 1 });
    const broken = await product.session([]);
    const chat = chatOf(broken);
    await chat.sendMessage({ text: "go" });
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toMatch(/^[a-z_]+: [A-Z][^\n]*$/);
    expect(chat.error?.message).not.toMatch(/model\.test|\bat \w|sk-test/);
    await session.product.call("DELETE", session.path);
    const deleted = chatOf(session);
    await deleted.sendMessage({ text: "go" });
    expect(deleted.error?.message).toContain("not_found");
  });

  it("[AISDK-8] the same message is one prompt, whatever the form of its id, and its stream can be read again", async () => {
    const session = await product.session([{ text: ["Hello"] }]);
    const body = { messages: [{ id: "a/b.c", role: "user", parts: [{ type: "text", text: "hi" }] }], own: 1 };
    const texts: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      const response = await product.fetch(`${session.path}/ai-sdk`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(response.headers.get("content-type")).toContain("text/event-stream");
      expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
      texts.push(joined(await response.text()));
    }
    expect(texts).toEqual(["Hello", "Hello"]);
    expect((await session.ended()).filter(({ type }) => type === "input")).toHaveLength(1);
    const bodies = [
      { messages: [] },
      { messages: [{ id: "x", role: "assistant", parts: [] }] },
      { messages: [{ id: "turn-1-1", role: "assistant", parts: [] }] },
      {
        messages: [
          { id: "x", role: "user", parts: [{ type: "file", mediaType: "image/png", url: "data:," }] },
        ],
      },
      { messages: [{ id: "turn-1-1", role: "assistant", parts: [] }], trigger: "regenerate-message" },
    ];
    for (const refused of bodies) {
      const answer = await product.call("POST", `${session.path}/ai-sdk`, refused);
      expect([refused, answer.status]).toEqual([refused, 400]);
    }
  });

  it("[AISDK-10] a message is regenerated, or edited, from the point before its turn, files included", async () => {
    const session = await product.session([
      { text: ["One."] },
      { text: ["Let me."], calls: [write("a.txt")] },
      { text: ["Two."] },
      { text: ["Two again."] },
      { text: ["Two once more."] },
      { text: ["Three."] },
    ]);
    const file = async (): Promise<number> =>
      (await product.fetch(`/v1/workspaces/${session.id}/files/a.txt`)).status;
    const chat = chatOf(session);
    await chat.sendMessage({ text: "one" });
    await chat.sendMessage({ text: "two" });
    expect(await file()).toBe(200);
    const texts = (messages: readonly UIMessage[]): string[] =>
      messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
    await chat.regenerate();
    expect(chat.error).toBeUndefined();
    expect(texts(chat.messages)).toEqual(["one", "One.", "two", "Two again."]);
    expect(await file()).toBe(404);
    await chat.regenerate();
    expect(texts(chat.messages)).toEqual(["one", "One.", "two", "Two once more."]);
    await chat.sendMessage({ text: "three", messageId: chat.messages[2]?.id ?? "" });
    expect(chat.error).toBeUndefined();
    expect(texts(chat.messages)).toEqual(["one", "One.", "three", "Three."]);
    expect(texts(await historyOf(session))).toEqual(["one", "One.", "three", "Three."]);
    // The same message again is its turn again, and nothing runs.
    const log = await session.ended(5);
    const again = chatOf(session, chat.messages.slice(0, 1));
    await again.sendMessage();
    expect(texts(again.messages)).toEqual(["one", "One."]);
    expect(await session.log()).toEqual(log);
  });

  it("[AISDK-9] a session token needs prompt to send, decide to answer, read to resume; a new message waits for nobody", async () => {
    const session = await product.session([{ calls: [write("a.txt")] }, { text: ["done"] }], {
      policy: { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] },
    });
    const tokenFor = async (...scopes: string[]): Promise<string> => {
      const { body } = await product.call<{ token: string }>("POST", `${session.path}/tokens`, { scopes });
      return body.token;
    };
    const chat = chatOf(session, [], await tokenFor("prompt"));
    await chat.sendMessage({ text: "write" });
    expect(partsOf(chat).at(-1)).toMatchObject({ state: "approval-requested" });
    const another = chatOf(session, [], await tokenFor("prompt"));
    await another.sendMessage({ text: "and now?" });
    expect(another.error?.message).toContain("busy");
    await chat.addToolApprovalResponse({ id: "approval_call_1_1_0", approved: true });
    await expect.poll(() => chat.error?.message ?? "", WAIT).toContain("forbidden");
    await chat.resumeStream();
    expect(chat.error?.message).toContain("forbidden");
    const reader = chatOf(session, [], await tokenFor("read"));
    await reader.resumeStream();
    expect(partsOf(reader).at(-1)).toMatchObject({ state: "approval-requested" });
    const decider = chatOf(session, chat.messages, await tokenFor("prompt", "decide"));
    await decider.sendMessage();
    expect(decider.error).toBeUndefined();
    expect(partsOf(decider).at(-1)).toMatchObject({ type: "text", text: "done" });
    expect((await session.ended()).filter(({ type }) => type === "input")).toHaveLength(1);
  });
});

/** All text of a stream as it stands on the wire. */
function joined(wire: string): string {
  return [...wire.matchAll(/"delta":"([^"]*)"/g)].map(([, text]) => text).join("");
}
