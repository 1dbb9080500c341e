import { abortAllDurableObjects } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { SkillsReport } from "../../src/durable/session-api.ts";
import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/protocol/limits.ts";
import { Product, TestSession, freshName } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

const skillMd = (name: string, text: string, rest = ""): string =>
  `---\r\nname: ${name}\r\ndescription: ${text} for customers.\r\n${rest}---\r\n${text}\r\n`;

let product: Product;
beforeAll(async () => {
  product = await Product.create();
});

interface Refused {
  readonly error: { readonly code: string; readonly details?: Record<string, unknown> };
}

async function put<T = Record<string, unknown>>(
  name: string,
  content: string,
  files?: Record<string, string>,
): Promise<{ status: number; body: T }> {
  return product.call<T>("PUT", `/v1/skills/${name}`, files ? { content, files } : { content });
}

async function write(workspace: string, path: string, body: string): Promise<void> {
  const { status } = await product.fetch(`/v1/workspaces/${workspace}/files/${path}`, {
    method: "PUT",
    body,
  });
  expect([200, 201]).toContain(status);
}

async function systems({ model }: TestSession): Promise<string[]> {
  const requests = await modelRequests(model);
  return requests.map(({ body }) => (body as { messages: { content: string }[] }).messages[0]?.content ?? "");
}

function results(log: readonly DurableEvent[]): DurableEvent<"tool_result">[] {
  return log.flatMap((event) => (event.type === "tool_result" ? [event] : []));
}

const load = (name: string, path?: string) => ({
  calls: [{ name: "load_skill", args: path === undefined ? { name } : { name, path } }],
});

async function reportOf({ path }: TestSession, query = ""): Promise<SkillsReport> {
  return (await product.call<SkillsReport>("GET", `${path}/skills${query}`)).body;
}

describe("a tenant's library of skills", () => {
  it("[SKILL-9] makes a version of each change, and none of what is there already", async () => {
    const name = freshName("skill");
    const first = await put(name, skillMd(name, "Writes mail", "version: 3\r\n"), { "a.md": "A" });
    expect(first).toMatchObject({
      status: 200,
      body: { name, version: 1, paths: ["a.md"], warnings: ["The format has no such fields: version."] },
    });
    expect(
      (await put(name, skillMd(name, "Writes mail", "version: 3\r\n"), { "a.md": "A" })).body,
    ).toMatchObject({ version: 1 });
    expect((await put(name, skillMd(name, "Writes mail"))).body).toMatchObject({ version: 2, warnings: [] });
    const { body } = await product.call("GET", `/v1/skills/${name}`);
    expect(body).toMatchObject({ version: 2, content: skillMd(name, "Writes mail"), files: {} });
    const list = await product.call<{ data: { name: string; version: number }[] }>(
      "GET",
      "/v1/skills?limit=200",
    );
    expect(list.body.data.find((skill) => skill.name === name)).toMatchObject({ version: 2 });
    expect((await product.call("DELETE", `/v1/skills/${name}`)).status).toBe(204);
    expect((await product.call("DELETE", `/v1/skills/${name}`)).status).toBe(404);
    expect((await product.call("GET", `/v1/skills/${name}`)).status).toBe(404);
  });

  it("[SKILL-9] refuses what is no skill, is too large, or has another name or bad files", async () => {
    const good = skillMd("good", "Good");
    const cases: [string, string, Record<string, string>?][] = [
      ["good", "# no frontmatter"],
      ["other", good],
      ["good", `${good}${"x".repeat(DEFAULT_LIMITS.skillBytes)}`],
      ["good", good, { "a.md": "x".repeat(DEFAULT_LIMITS.skillFilesBytes + 1) }],
      ["good", good, { "a.md/b": "1", "SKILL.md": "2" }],
      ["good", good, { "SKILL.md": "1" }],
      ["good", good, Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`${index}`, ""]))],
    ];
    for (const [name, content, files] of cases) {
      const { status, body } = await put<Refused>(name, content, files);
      expect([status, body.error.code]).toEqual([400, "invalid_skill"]);
    }
    const escape = await put<Refused>("good", good, { "../a.md": "x" });
    expect([escape.status, escape.body.error.code]).toEqual([400, "invalid_path"]);
    const viewer = await product.call<{ apiKey: string }>("POST", "/v1/keys", { name: "m", role: "member" });
    const headers = { authorization: `Bearer ${viewer.body.apiKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ content: good });
    expect((await product.fetch("/v1/skills/good", { method: "PUT", headers, body })).status).toBe(403);
    expect((await product.call("GET", "/v1/skills/good")).status).toBe(404);
  });

  it("[SKILL-9] beyond librarySkills another one is too_many_skills", async () => {
    const small = await Product.create();
    const root = { authorization: `Bearer root-key-of-the-tests`, "content-type": "application/json" };
    const body = JSON.stringify({ limits: { librarySkills: 1 } });
    await product.fetch(`/v1/tenants/${small.tenant}`, { method: "PATCH", headers: root, body });
    expect((await small.call("PUT", "/v1/skills/one", { content: skillMd("one", "1") })).status).toBe(200);
    expect(await small.call("PUT", "/v1/skills/two", { content: skillMd("two", "2") })).toMatchObject({
      status: 409,
      body: { error: { code: "too_many_skills", details: { limit: "librarySkills", value: 1 } } },
    });
    expect((await small.call("PUT", "/v1/skills/one", { content: skillMd("one", "3") })).status).toBe(200);
  });
});

describe("the skills of a session", () => {
  it("[SKILL-10] of the library stay as they were when it was created, in its forks too, until they are gone", async () => {
    const [base, mail] = [freshName("base"), freshName("mail")];
    await put(base, skillMd(base, "Old base"));
    await put(mail, skillMd(mail, "Old mail", `metadata:\r\n  dependencies: ${base}\r\n`), {
      "a.md": "old file",
    });
    const replies = [
      load(mail),
      load(mail, "./a.md"),
      { text: ["1"] },
      load(mail),
      { text: ["2"] },
      load(mail),
      { text: ["3"] },
    ];
    const session = await product.session(replies, { skills: [mail, "never-there"], tools: [] });
    await put(mail, skillMd(mail, "New mail"));
    await put(base, skillMd(base, "New base"));
    await session.prompt("go");
    const [loaded, file] = results(await session.ended());
    expect(loaded?.content).toMatch(/Old base\n<\/skill>\n<skill name="mail[^"]*">\nOld mail/);
    expect(loaded?.content).toContain("[files] a.md");
    expect(file?.content).toBe("old file");
    const id = freshName("fork");
    expect((await product.call("POST", `${session.path}/fork`, { id })).status).toBe(201);
    const fork = new TestSession(product, id, session.model);
    await fork.prompt("again");
    expect(results(await fork.ended(2)).at(-1)?.content).toContain("Old mail");
    const told = await systems(session);
    expect(told).toHaveLength(5);
    expect(new Set(told).size).toBe(1);
    expect(told[0]).toContain(
      `<skill><name>${mail}</name><description>Old mail for customers.</description></skill>`,
    );
    await product.call("DELETE", `/v1/skills/${base}`);
    await session.prompt("and again");
    expect(results(await session.ended(2)).at(-1)).toMatchObject({ isError: true, code: "not_found" });
  });

  it("[SKILL-7] [SKILL-12] are told with what is wrong with others, and found by words", async () => {
    const name = freshName("mail");
    await put(name, skillMd(name, "Writes mail"));
    const definition = {
      skills: [
        name,
        "never-there",
        { content: skillMd("inline", "Schreibt Rechnungen") },
        { content: "bad" },
      ],
      tools: [],
    };
    const session = await product.session([{ text: ["ok"] }], definition);
    const report = await reportOf(session);
    expect(report.skills.map((skill) => [skill.name, skill.source])).toEqual([
      ["inline", "agent"],
      [name, "library"],
    ]);
    expect(report.problems.map(({ source, skill }) => [source, skill])).toEqual([
      ["agent", "#2"],
      ["library", "never-there"],
    ]);
    expect((await reportOf(session, "?query=rechnungen")).skills.map((skill) => skill.name)).toEqual([
      "inline",
    ]);
    const socket = await session.connect();
    await session.prompt("go");
    await socket.untilStop();
    const diagnostics = socket.events.filter(({ type }) => type === "diagnostic");
    expect(diagnostics).toMatchObject([{ code: "invalid_skill" }, { code: "invalid_skill" }]);
    expect((await session.ended()).at(-1)).toMatchObject({ type: "agent_stop", reason: "stop" });
  });

  it("[SKILL-11] of its workspace stay as its first turn found them, while their texts are read as they are", async () => {
    const replies = [
      load("notes"),
      { text: ["1"] },
      load("notes"),
      load("notes", "more/b.md"),
      { text: ["2"] },
      load("notes"),
      { text: ["3"] },
    ];
    const session = await product.session(replies, { workspaceSkills: true, tools: [] });
    expect((await reportOf(session)).skills).toEqual([]);
    await write(session.id, ".skills/notes/SKILL.md", skillMd("notes", "Old notes"));
    await write(session.id, ".skills/bad/SKILL.md", "bad");
    expect((await reportOf(session)).skills.map(({ name }) => name)).toEqual(["notes"]);
    await session.prompt("go");
    await session.ended();
    await write(session.id, ".skills/notes/SKILL.md", skillMd("notes", "New notes"));
    await write(session.id, ".skills/notes/more/b.md", "more");
    await write(session.id, ".skills/late/SKILL.md", skillMd("late", "Too late"));
    await abortAllDurableObjects();
    await session.prompt("again");
    const texts = results(await session.ended(2)).map(({ content }) => content);
    expect(texts).toEqual([
      expect.stringContaining("Old notes"),
      expect.stringContaining("New notes"),
      "more",
    ]);
    await product.fetch(`/v1/workspaces/${session.id}/files/.skills/notes`, { method: "DELETE" });
    await session.prompt("once more");
    expect(results(await session.ended(3)).at(-1)).toMatchObject({ isError: true, code: "path_not_found" });
    const told = await systems(session);
    expect(told).toHaveLength(7);
    expect(new Set(told).size).toBe(1);
    expect(told[0]).toContain("Old notes for customers.");
    const { skills, problems } = await reportOf(session);
    expect(skills.map(({ name }) => name)).toEqual(["notes"]);
    expect(problems.map(({ skill }) => skill)).toEqual(["bad"]);
  });
});
