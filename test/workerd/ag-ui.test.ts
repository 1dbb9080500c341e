import { HttpAgent, buildResumeArray } from "@ag-ui/client";
import type { Message, RunAgentResult } from "@ag-ui/client";
import { beforeAll, describe, expect, it } from "vitest";
import { ORIGIN } from "./api-client.ts";
import { Product, freshName } from "./product.ts";
import type { TestSession } from "./product.ts";

const WAIT = { timeout: 15_000 };
const write = (path: string) => ({ name: "write_file", args: { path, content: path, _intent: "to write" } });
const ASKING = { policy: { rules: [{ id: "writes", tool: "write_file", effect: "ask" }] } };

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

interface Client {
  readonly agent: HttpAgent;
  /** The types of the events of all runs, in order. */
  readonly types: string[];
  /** The last run's outcome, or its error. */
  ended: { type?: string; code?: unknown; message?: string } | undefined;
  say(text: string): Promise<RunAgentResult>;
}

/** The real agent, against the product: nothing of it is replaced but the network. */
function clientOf(
  path: string,
  threadId: string,
  messages: Message[] = [],
  credential = product.key,
): Client {
  const agent = new HttpAgent({
    url: `${ORIGIN}${path}`,
    threadId,
    headers: { authorization: `Bearer ${credential}` },
    initialMessages: messages,
    fetch: (url, init) => product.fetch(url.slice(ORIGIN.length), init),
  });
  const client: Client = {
    agent,
    types: [],
    ended: undefined,
    say(text) {
      agent.addMessage({ id: freshName("message"), role: "user", content: text });
      return agent.runAgent();
    },
  };
  agent.subscribe({
    onEvent: ({ event }) => void client.types.push(event.type),
    onRunFinishedEvent: ({ event }) => void (client.ended = event.outcome),
    onRunErrorEvent: ({ event }) => void (client.ended = { code: event.code, message: event.message }),
  });
  return client;
}

const own = (session: TestSession, messages?: Message[], credential?: string): Client =>
  clientOf(`${session.path}/ag-ui`, session.id, messages, credential);

const last = ({ agent }: Client): Message | undefined => agent.messages.at(-1);

describe("AG-UI's HttpAgent", () => {
  it("[AGUI-1] shows a turn with a tool's call, its result and the text; its thread is a session that its first run makes", async () => {
    const thread = crypto.randomUUID();
    const agentId = freshName("agent");
    await product.call("POST", "/v1/agents", { id: agentId, model: "demo" });
    const client = clientOf(`/v1/ag-ui?agent=${agentId}`, thread);
    await client.say("What can you do?");
    expect(client.ended).toEqual({ type: "success" });
    expect(last(client)).toMatchObject({ role: "assistant" });
    expect((await product.call("GET", `/v1/sessions/${thread}`)).body).toMatchObject({
      status: "idle",
      turn: 1,
    });
    await client.say("And what else?");
    expect((await product.call("GET", `/v1/sessions/${thread}`)).body).toMatchObject({ turn: 2 });

    const session = await product.session([
      { text: ["Let me ", "see."], calls: [write("a.txt")] },
      { text: ["Do", "ne."] },
    ]);
    const second = clientOf("/v1/ag-ui", session.id);
    const { newMessages } = await second.say("write");
    expect(newMessages).toMatchObject([
      { role: "assistant", content: "Let me see.", toolCalls: [{ function: { name: "write_file" } }] },
      { role: "tool", toolCallId: "call_1_1_0" },
      { role: "assistant", content: "Done." },
    ]);
    expect(second.types.filter((type) => !type.startsWith("TEXT_"))).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "STEP_FINISHED",
      "STEP_STARTED",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(second.agent.messages).toHaveLength(4);
  });

  it("[AGUI-3] an approval and a question are interrupts of the protocol, and a resume answers them", async () => {
    const session = await product.session(
      [
        { calls: [write("a.txt"), write("b.txt")] },
        { calls: [{ name: "ask_user", args: { question: "Which?", _intent: "to know" } }] },
        { text: ["done"] },
      ],
      { ...ASKING, tools: ["write_file", "ask_user"] },
    );
    const client = own(session);
    await client.say("write");
    expect(client.ended).toMatchObject({ type: "interrupt" });
    const { agent } = client;
    expect(agent.pendingInterrupts).toMatchObject([
      { id: "approval_call_1_1_0", toolCallId: "call_1_1_0", reason: "tool_call" },
      { id: "approval_call_1_1_1", toolCallId: "call_1_1_1" },
    ]);
    const another = own(session);
    await expect(another.say("and now?")).rejects.toThrow(/409/);
    const resume = buildResumeArray(agent.pendingInterrupts, {
      approval_call_1_1_0: {
        status: "resolved",
        payload: { approved: true, editedArgs: { path: "c.txt", content: "c" } },
      },
      approval_call_1_1_1: { status: "cancelled" },
    });
    await agent.runAgent({ resume });
    expect(agent.pendingInterrupts).toMatchObject([{ reason: "input_required", message: "Which?" }]);
    const [question] = agent.pendingInterrupts;
    await agent.runAgent({
      resume: [{ interruptId: question?.id ?? "", status: "resolved", payload: { text: "the second" } }],
    });
    expect(client.ended).toEqual({ type: "success" });
    expect(last(client)).toMatchObject({ role: "assistant", content: "done" });
    const log = await session.ended();
    expect(log.filter(({ type }) => type.endsWith("_resolved"))).toMatchObject([
      { decision: "allow", args: { path: "c.txt", content: "c" } },
      { decision: "deny" },
      { answer: { text: "the second" } },
    ]);
    expect(log.filter(({ type }) => type === "input")).toHaveLength(1);
  });

  it("[AGUI-5] a run without a new message shows the thread, the running turn from its beginning included", async () => {
    const session = await product.session([
      { text: ["First."] },
      { text: ["Let me."], calls: [write("a.txt")] },
      { text: ["A long ", "answer"], ending: "hang" },
    ]);
    const first = own(session);
    await first.say("begin");
    const running = first.say("write");
    await expect.poll(() => last(first), WAIT).toMatchObject({ content: "A long answer" });
    const late = own(session);
    const connected = late.agent.runAgent();
    await expect.poll(() => last(late), WAIT).toMatchObject({ content: "A long answer" });
    expect(late.agent.messages).toEqual(first.agent.messages);
    await product.call("POST", `${session.path}/interrupt`, { reason: "enough" });
    await Promise.all([running, connected]);
    expect([first.ended, late.ended]).toEqual([{ type: "cancelled" }, { type: "cancelled" }]);
    const after = own(session);
    await after.agent.runAgent();
    expect(after.ended).toEqual({ type: "success" });
    expect(after.agent.messages).toEqual(first.agent.messages);
    // The same message again is the same turn: a client that lost its run reads it again.
    const again = own(session, first.agent.messages.slice(0, 3));
    await again.agent.runAgent();
    expect(again.agent.messages).toEqual(first.agent.messages);
    expect((await session.ended(2)).filter(({ type }) => type === "input")).toHaveLength(2);
  });

  it("[AGUI-6] a turn that fails is RUN_ERROR with its code and nothing of its insides; bad requests are refused", async () => {
    const broken = await product.session([]);
    const client = own(broken);
    await client.say("go").catch(() => undefined);
    expect(client.types.at(-1)).toBe("RUN_ERROR");
    expect(client.ended).toMatchObject({ code: expect.stringMatching(/^[a-z_]+$/) });
    expect(client.ended?.message).not.toMatch(/model\.test|\bat \w|sk-test/);
    await broken.ended();
    const run = { threadId: "t", runId: "r", messages: [], tools: [], context: [] };
    const data = { type: "image", source: { type: "data", value: "AA==", mimeType: "image/png" } };
    const seen = await product.session([{ text: ["A cat."] }]);
    const url = "https://example.com/cat";
    const image = { type: "image", source: { type: "url", value: url } };
    const content = [{ type: "text", text: "What is it?" }, image];
    const shown = await product.fetch(`${seen.path}/ag-ui`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...run, messages: [{ id: "m", role: "user", content }] }),
    });
    expect(await shown.text()).toContain("A cat.");
    expect((await seen.ended())[0]).toMatchObject({
      content: [{ text: "What is it?" }, { type: "image", mediaType: "image/png", url }],
    });
    const later = own(seen);
    await later.agent.runAgent();
    expect(later.agent.messages[0]).toMatchObject({
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", source: { type: "url", value: url } },
      ],
    });
    const refused: [unknown, number][] = [
      [{ ...run, messages: [{ id: "m", role: "user", content: "" }] }, 400],
      [{ ...run, messages: [{ id: "m", role: "user", content: [data] }] }, 400],
      [{ ...run, resume: [{ interruptId: "approval_call_9_1_0", status: "cancelled" }] }, 404],
      [{ ...run, messages: "all" }, 400],
    ];
    for (const [body, status] of refused) {
      const answer = await product.call("POST", `${broken.path}/ag-ui`, body);
      expect([body, answer.status]).toEqual([body, status]);
    }
  });

  it("[AGUI-7] a session token needs prompt to run and decide to resume, in its own session alone", async () => {
    const session = await product.session([{ calls: [write("a.txt")] }, { text: ["done"] }], ASKING);
    const tokenFor = async (...scopes: string[]): Promise<string> => {
      const { body } = await product.call<{ token: string }>("POST", `${session.path}/tokens`, { scopes });
      return body.token;
    };
    const reader = own(session, [], await tokenFor("read"));
    await expect(reader.say("write")).rejects.toThrow(/403/);
    const prompting = await tokenFor("prompt");
    await expect(clientOf("/v1/ag-ui", session.id, [], prompting).say("write")).rejects.toThrow(/403/);
    const client = own(session, [], prompting);
    await client.say("write");
    const resume = [
      { interruptId: "approval_call_1_1_0", status: "resolved" as const, payload: { approved: true } },
    ];
    await expect(client.agent.runAgent({ resume })).rejects.toThrow(/403/);
    client.agent.headers = { authorization: `Bearer ${await tokenFor("prompt", "decide")}` };
    await client.agent.runAgent({ resume });
    expect(last(client)).toMatchObject({ content: "done" });
    await session.ended();
  });
});
