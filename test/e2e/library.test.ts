import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unstable_startWorker } from "wrangler";
import { RestClient } from "../../client/index.ts";
import { ModelServer } from "./model-server.ts";
import { UserProject, codeBlocks } from "./user-project.ts";

const PROGRAM = `
import { createAgent, createDemoProvider } from "light-agent";
const agent = createAgent({ model: createDemoProvider() });
const types = [];
for await (const event of agent.run("hello")) if ("seq" in event) types.push(event.type);
console.log(types.join(" "));
`;

let user: UserProject;

beforeAll(() => {
  user = new UserProject();
});

afterAll(() => user.remove());

it("[REPO-10] the packed library runs an agent in plain Node", async () => {
  user.write("program.mjs", PROGRAM);
  expect(await user.run("program.mjs")).toBe("input output agent_trace agent_stop\n");
});

it("[REPO-20] every entry of the package has types, and the pages' code fits them", () => {
  const [worker = ""] = codeBlocks("docs/deploy.md", "ts");
  user.write("worker.ts", worker);
  expect(user.typeErrors(["worker.ts"], { types: ["@cloudflare/workers-types"] })).toBe("");
  const program = codeBlocks("docs/client.md", "ts").join("\n");
  const [view = ""] = codeBlocks("docs/client.md", "tsx");
  user.write("client.ts", program);
  user.write("view.tsx", view);
  user.write("preact-view.ts", 'export { useSession } from "light-agent/client/preact";\n');
  const browser = { lib: ["ES2024", "DOM", "DOM.Iterable"], jsx: "react-jsx", types: ["node"] };
  expect(user.typeErrors(["client.ts", "view.tsx", "preact-view.ts"], browser)).toBe("");
  user.write("wrong.ts", 'import { useSession } from "light-agent/client/react";\nuseSession({ url: 1 });\n');
  expect(user.typeErrors(["wrong.ts"], browser)).toContain("TS2322");
});

describe("a Worker that is made of the package", () => {
  let model: ModelServer;
  let worker: Awaited<ReturnType<typeof unstable_startWorker>>;
  let url: string;
  let apiKey: string;

  beforeAll(async () => {
    model = await ModelServer.start(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === "tool") return { text: ["It is ", String(last.content), "."] };
      const asked = JSON.stringify(last?.content).includes("roll");
      return asked ? { calls: [{ name: "roll_die", args: { sides: 6 } }] } : { text: ["Fine."] };
    });
    const [code = ""] = codeBlocks("docs/deploy.md", "ts");
    const [configuration = ""] = codeBlocks("docs/deploy.md", "toml");
    const ROOT_KEY = "root-key-of-the-library-test-0123456789";
    const vars = {
      ROOT_KEY,
      SIGNING_KEY: "signing-key-of-the-library-test-0123456789",
      ENCRYPTION_KEY: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: "fake",
    };
    const lines = Object.entries(vars).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    user.write("worker.ts", code);
    user.write("wrangler.toml", `${configuration}\n[vars]\n${lines.join("\n")}\n`);
    worker = await unstable_startWorker({
      config: join(user.folder, "wrangler.toml"),
      dev: { server: { port: 0 }, logLevel: "error", watch: false, inspector: false },
    });
    await worker.ready;
    url = (await worker.url).origin;
    const root = new RestClient({ url, credential: ROOT_KEY });
    ({ apiKey } = await root.createTenant({ id: "acme" }));
  });

  afterAll(async () => {
    await worker.dispose();
    await model.stop();
  });

  it("[REPO-20] bundles, answers, and calls a tool of its own", async () => {
    const rest = new RestClient({ url, credential: apiKey });
    const types: string[] = [];
    let text = "";
    for await (const event of await rest.chat({ text: "roll it" })) {
      types.push(event.type);
      if (event.type === "output") text = event.text;
    }
    expect(types).toEqual(expect.arrayContaining(["tool_call_start", "tool_result", "agent_stop"]));
    expect(text).toMatch(/^It is [1-6]\.$/);
    await expect(rest.createAgent({ id: "other", tools: ["no_such_tool"] })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("[CLIENT-9] the blocks of docs/client.md run in plain Node, as one program", async () => {
    const program = codeBlocks("docs/client.md", "ts").join("\n");
    user.write(
      "client.ts",
      program.replaceAll("http://localhost:8787", url).replaceAll("la_dev.key", apiKey),
    );
    const output = await user.run("client.ts");
    expect(output).toMatch(/ First idle$/m);
    expect(output).toContain("Fine.");
    expect(output).toContain("live");
    expect(output).toMatch(/^1 \d{4,}$/m);
  });
});
