import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDemoProvider } from "../../../src/runtime/model/demo/demo-provider.ts";
import { streamOf } from "../../../src/runtime/model/stream-of.ts";
import { DemoSession } from "./demo-session.ts";
import { ASK, readStream, shownText } from "./streamed.ts";

/** How each language defines a name; the first line is the definition. */
const LANGUAGES: Readonly<Record<string, readonly ((name: string) => string)[]>> = {
  ts: [
    (name) => `export function ${name}(input: string): void {\n  return;\n}`,
    (name) => `export class ${name}<T> extends Base {\n}`,
    (name) => `export const ${name} = 3;`,
    (name) => `export interface ${name} {\n  a: string;\n}`,
    (name) => `export type ${name} = string | number;`,
    (name) => `  async ${name}(a: number): Promise<void> {\n  }`,
  ],
  py: [
    (name) => `def ${name}(a, b):\n    pass`,
    (name) => `class ${name}(Base):\n    pass`,
    (name) => `${name} = 3`,
  ],
  rs: [(name) => `pub fn ${name}(a: u8) -> u8 {\n    a\n}`, (name) => `pub(crate) struct ${name} {\n}`],
  go: [(name) => `func (s *Server) ${name}(w int) error {\n}`, (name) => `type ${name} struct {\n}`],
  java: [
    (name) => `    public static void ${name}(String[] args) {\n    }`,
    (name) => `public final class ${name} {\n}`,
  ],
  c: [(name) => `static int ${name}(int a)\n{\n}`, (name) => `#define ${name} 3`],
  rb: [(name) => `  def self.${name}(a)\n  end`, (name) => `module ${name}\nend`],
  kt: [(name) => `fun ${name}(a: Int): Int {\n}`, (name) => `data class ${name}(val a: Int)`],
  php: [(name) => `function ${name}($a) {\n}`],
};

const FORMS = Object.entries(LANGUAGES).flatMap(([extension, forms]) =>
  forms.map((form) => ({ extension, form })),
);

const NOISE_LINES = ["", "// nothing here", "import x from 'y';", "print(1)", "  return 2;", "# text"];

/** A repository in which `name` is defined once, among other files, and used all over. */
const repositories = fc
  .record({
    name: fc.stringMatching(/^[a-zA-Z_$][a-zA-Z0-9_]{5,11}$/),
    folders: fc.array(fc.stringMatching(/^[a-z]{3,8}$/), { maxLength: 3 }),
    file: fc.stringMatching(/^[a-z]{3,8}$/),
    chosen: fc.constantFrom(...FORMS),
    before: fc.array(fc.constantFrom(...NOISE_LINES), { maxLength: 30 }),
    after: fc.array(fc.constantFrom(...NOISE_LINES), { maxLength: 30 }),
    others: fc.uniqueArray(fc.stringMatching(/^[a-z]{3,8}\/[a-z]{9,12}\.(ts|py|go|md|json)$/), {
      maxLength: 12,
    }),
    question: fc.constantFrom(
      (name: string) => `where is ${name} defined?`,
      (name: string) => `find ${name}`,
      (name: string) => `Where is the function \`${name}\`?`,
      (name: string) => `Please find the definition of ${name}.`,
      (name: string) => `which file defines ${name}()?`,
    ),
  })
  .map(({ name, folders, file, chosen, before, after, others, question }) => {
    const path = [...folders, `${file}.${chosen.extension}`].join("/");
    const definition = chosen.form(name);
    const files: Record<string, string> = {};
    for (const other of others) files[other] = `x\n  return ${name}(1);\nother${name}x = 1\n`;
    files[path] = [...before, definition, ...after, `use(${name});`].join("\n");
    return {
      files,
      question: question(name),
      path,
      line: before.length + 1,
      text: definition.split("\n")[0] ?? "",
    };
  });

describe("[MODEL-25] where is X defined?", () => {
  it("[MODEL-25] in any repository it looks, searches, reads, and answers with the path and the line", async () => {
    const property = fc.asyncProperty(repositories, async ({ files, question, path, line, text }) => {
      const session = await DemoSession.on(files);
      const { answer, calls } = await session.ask(question);
      expect(calls.map((call) => call.name)).toEqual(["tree", "grep", "read_file"]);
      expect(answer).toContain(`\`${path}:${line}\``);
      expect(answer).toContain(`${line} | ${text}`);
      expect(answer).toMatch(/^`.*` (?:is|seems to be) defined in /);
    });
    await fc.assert(property, { numRuns: 150 });
  }, 30_000);

  it("[MODEL-25] its calls depend on what came before", async () => {
    const session = await DemoSession.on({
      "lib/deep/token.py": "class Token:\n    pass\n",
      "docs/a.md": "Token",
    });
    const { calls } = await session.ask("where is Token defined?");
    expect(calls[1]?.args).toMatchObject({
      include: ["**/*.py"],
      pattern: expect.stringContaining("Token"),
    });
    expect(calls[2]?.args).toMatchObject({ path: "lib/deep/token.py", startLine: 1 });
    for (const call of calls) expect(call.args["_intent"]).toEqual(expect.stringMatching(/\w/));
  });

  it("[MODEL-25] a keyword is surer than a shape, the top level than a body, and a test comes last", async () => {
    const session = await DemoSession.on({
      "a.ts": "parse = 3\n// the function parse is old\n",
      "test/b.ts": "function parse() {}\n",
      "c.ts": "function use() {\n  const parse = 3;\n}\n",
      "z.ts": "export function parse() {}\n",
    });
    const { answer } = await session.ask("find parse");
    expect(answer).toMatch(/^`parse` is defined in `z\.ts:1`/);
    expect(answer).toContain("- `test/b.ts:1`");
    expect(answer).not.toContain("a.ts:2");
  });

  it("[MODEL-25] calls and conditions alone are no definition: it says so and shows a mention", async () => {
    const session = await DemoSession.on({ "a.go": "if check(x) {\n}\nreturn check(y)\n" });
    const { answer, calls } = await session.ask("where is check defined?");
    expect(calls.map((call) => call.name)).toEqual(["tree", "grep", "grep", "read_file"]);
    expect(answer).toContain("no line that looks like a definition of `check`");
    expect(answer).toContain("`a.go:1`");
  });

  it("[MODEL-25] a name that is nowhere is not found", async () => {
    const session = await DemoSession.on({ "a.ts": "export {};\n" });
    expect((await session.ask("where is missing defined?")).answer).toContain("no mention of `missing`");
    const empty = await DemoSession.on({});
    expect((await empty.ask("where is missing defined?")).answer).toContain("no mention of `missing`");
  });

  it("[MODEL-25] a new question starts anew", async () => {
    const session = await DemoSession.on({ "a.ts": "function one() {}\nfunction two() {}\n" });
    expect((await session.ask("find one")).answer).toContain("a.ts:1");
    const { answer, calls } = await session.ask("find two");
    expect(calls).toHaveLength(3);
    expect(answer).toContain("a.ts:2");
  });

  it("[MODEL-25] without grep it says what it would need, without tree and read_file it does with less", async () => {
    const files = { "a.ts": "function one() {}\n" };
    const blind = await DemoSession.on(files, ["tree", "read_file"]);
    expect(await blind.ask("find one")).toMatchObject({
      calls: [],
      answer: expect.stringContaining("`grep`"),
    });
    const { answer, calls } = await (await DemoSession.on(files, ["grep"])).ask("find one");
    expect(calls).toHaveLength(1);
    expect(answer).toContain("1 | function one() {}");
  });

  it("[MODEL-25] code that holds fences stays inside one", async () => {
    const session = await DemoSession.on({ "a.ts": "const fence = `````;\n```\n" });
    expect((await session.ask("find fence")).answer).toMatch(/\n``````\n1 \| const fence = `````;\n/);
  });
});

describe("[MODEL-27] other tasks", () => {
  const FILES = { "src/a.ts": "one\ntwo\nnot found here\n", "notes.txt": "hello\n" };

  it.each(["what files are there?", "list files", "ls", "show me all the files in the workspace"])(
    "[MODEL-27] lists files: %s",
    async (question) => {
      const { answer, calls } = await (await DemoSession.on(FILES)).ask(question);
      expect(calls.map((call) => call.name)).toEqual(["tree"]);
      expect(answer).toContain("a.ts");
      expect(answer).toContain("notes.txt");
      expect(answer).not.toContain("[what]");
    },
  );

  it.each(["list the files in src", "ls src", "what files are in the folder `src`?"])(
    "[MODEL-27] lists a folder: %s",
    async (question) => {
      const { answer, calls } = await (await DemoSession.on(FILES)).ask(question);
      expect(calls[0]?.args).toMatchObject({ path: "src" });
      expect(answer).not.toContain("notes.txt");
    },
  );

  it.each(["show src/a.ts", "read the file `src/a.ts`", "cat src/a.ts", "What is in src/a.ts?"])(
    "[MODEL-27] reads a file: %s",
    async (question) => {
      const { answer, calls } = await (await DemoSession.on(FILES)).ask(question);
      expect(calls.map((call) => call.name)).toEqual(["read_file"]);
      expect(answer).toContain("2 | two");
    },
  );

  it("[MODEL-27] reads lines of a file", async () => {
    const { calls } = await (await DemoSession.on(FILES)).ask("show lines 2 to 3 of src/a.ts");
    expect(calls[0]?.args).toMatchObject({ path: "src/a.ts", startLine: 2, endLine: 3 });
  });

  it.each(["search for not found", 'grep "not found"', "search for the text `not found`"])(
    "[MODEL-27] searches text as it stands: %s",
    async (question) => {
      const { answer, calls } = await (await DemoSession.on(FILES)).ask(question);
      expect(calls[0]?.args).toMatchObject({ pattern: "not found", fixed: true });
      expect(answer).toContain("- `src/a.ts:3` not found here");
    },
  );

  it.each(["who uses two?", "find all usages of two", "where is two used?"])(
    "[MODEL-27] finds uses: %s",
    async (question) => {
      expect((await (await DemoSession.on(FILES)).ask(question)).answer).toContain("- `src/a.ts:2` two");
    },
  );

  it.each([
    ["write hello world to b/new.txt", "b/new.txt", "hello world"],
    ['write "to be, or not to be" to notes.txt.', "notes.txt", "to be, or not to be"],
    ["create the file new.md with # Title", "new.md", "# Title"],
  ])("[MODEL-27] writes a file: %s", async (question, path, content) => {
    const session = await DemoSession.on(FILES);
    const { answer } = await session.ask(question);
    expect(answer).toMatch(/^File (?:created|replaced): `/);
    expect(new TextDecoder().decode((await session.workspace.read(path)).bytes)).toBe(content);
  });

  it.each(["in notes.txt replace hello by goodbye", "replace `hello` with `goodbye` in notes.txt"])(
    "[MODEL-27] edits a file: %s",
    async (question) => {
      const session = await DemoSession.on(FILES);
      await session.ask(question);
      expect(new TextDecoder().decode((await session.workspace.read("notes.txt")).bytes)).toBe("goodbye\n");
    },
  );

  it("[MODEL-27] says what failed", async () => {
    const session = await DemoSession.on(FILES);
    expect((await session.ask("show src/none.ts")).answer).toMatch(/^That failed: \w/);
    expect((await session.ask("in notes.txt replace absent by x")).answer).toMatch(/^That failed: \w/);
    expect((await session.ask("search for absent text")).answer).toBe("I found no line with `absent text`.");
  });
});

describe("[MODEL-26] anything else", () => {
  it.each([
    "Hello!",
    "Write me a poem about the sea",
    "why?",
    "",
    "explain the architecture",
    "x".repeat(100_000),
  ])("[MODEL-26] it says what it is and what it can do, and calls nothing: %.40s", async (question) => {
    const { answer, calls } = await (await DemoSession.on({ "a.ts": "" })).ask(question || " ");
    expect(calls).toEqual([]);
    expect(answer).toContain("offline demo model");
    expect(answer).toContain("“where is parseConfig defined?”");
  });

  it("[MODEL-26] it promises only what the agent's tools allow", async () => {
    const reading = await DemoSession.on({}, ["read_file"]);
    const { answer } = await reading.ask("Hello!");
    expect(answer).toContain("read a file");
    expect(answer).not.toContain("write a file");
    const { reply } = await readStream(streamOf(createDemoProvider(), ASK, new AbortController().signal));
    expect(reply?.blocks[0]?.text).toContain("none of the tools");
  });

  it("[MODEL-26] no text, however long or odd, makes it fail or hang", async () => {
    const word = fc.constantFrom(
      "find",
      "write",
      "to",
      "in",
      "replace",
      "by",
      "show",
      "files",
      "where",
      "`",
      '"',
      " ",
      "\n",
      "a.ts",
      "/",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(word, { maxLength: 60 }).map((words) => words.join(" ")),
    );
    const property = fc.asyncProperty(texts, async (text) => {
      const request = {
        ...ASK,
        messages: [{ role: "user" as const, content: [{ type: "text" as const, text }] }],
      };
      const { reply } = await readStream(
        streamOf(createDemoProvider(), request, new AbortController().signal),
      );
      expect(reply?.blocks[0]?.text).not.toBe("");
    });
    await fc.assert(property);
  });
});

describe("[MODEL-7] the demo's stream", () => {
  it("[MODEL-7] comes in words, and its deltas are its reply", async () => {
    const { deltas, reply } = await readStream(
      streamOf(createDemoProvider(), ASK, new AbortController().signal),
    );
    expect(deltas.length).toBeGreaterThan(10);
    expect(shownText(deltas, "text")).toBe(reply?.blocks[0]?.text);
    expect(reply?.usage).toMatchObject({ cachedInput: 0, reasoning: 0 });
    expect(reply?.usage?.output).toBe(Math.ceil((reply?.blocks[0]?.text.length ?? 0) / 4));
  });

  it("[MODEL-17] ends when it is aborted", async () => {
    const controller = new AbortController();
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const item of streamOf(createDemoProvider(), ASK, controller.signal)) {
        seen.push(item);
        controller.abort();
      }
    })();
    await expect(reading).rejects.toThrow();
    expect(seen).toHaveLength(1);
  });
});
