import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { checkLog } from "../../src/runtime/protocol/log-grammar.ts";
import { ModelServer } from "./model-server.ts";
import { ProductProcess } from "./product-process.ts";

const COMMANDS = [
  "printf 'b\\na\\n' > list.txt; sort list.txt | tr a-z A-Z; grep -c . list.txt",
  "echo '{\"a\":[1,2]}' | jq -c .a; echo x | gzip",
];

let model: ModelServer;
let product: ProductProcess;

beforeAll(async () => {
  model = await ModelServer.start(({ messages }) => {
    const command = COMMANDS[messages.filter(({ role }) => role === "tool").length];
    return command ? { calls: [{ name: "bash", args: { command, _intent: "to see" } }] } : { text: ["done"] };
  });
  product = new ProductProcess({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "fake",
  });
  await product.start();
});

afterAll(async () => {
  await product.stop();
  await model.stop();
});

it("[TOOL-40] bash runs in the Worker as it is deployed, for an agent that names it", async () => {
  await product.call("POST", "/v1/agents", { id: "shell", tools: ["bash"] });
  await product.call("POST", "/v1/sessions", { id: "shell", agent: "shell" });
  await product.call("POST", "/v1/sessions/shell/prompt", { text: "go" });
  let events: DurableEvent[] = [];
  while (!events.some(({ type }) => type === "agent_stop")) {
    await delay(50);
    ({ events } = await product.call<{ events: DurableEvent[] }>("GET", "/v1/sessions/shell/events"));
  }
  expect(checkLog(events)).toEqual([]);
  const results = events.filter((event) => event.type === "tool_result");
  expect(results.map(({ isError }) => isError)).toEqual([false, false]);
  const [first, second] = results.map(({ content }) => content);
  expect(first).toBe("[exit_code] 0\n[changed] 1 file\n[changed_paths]\nlist.txt\n[stdout]\nA\nB\n2");
  expect(second).toContain("[stdout]\n[1,2]");
  expect(second).toContain("gzip: command not found");
  expect(results[0]?.workspaceVersion).toBe(1);
  const file = await product.fetch("/v1/workspaces/shell/files/list.txt");
  expect(await file.text()).toBe("b\na\n");
});
