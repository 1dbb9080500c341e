import { LightAgentError } from "../../protocol/errors.ts";
import { isSkillName } from "./skill.ts";
import type { Skill } from "./skill.ts";

/** Characters of a frontmatter, and brackets in it: what has more is no description of a skill. */
const FRONTMATTER_CHARS = 16 * 1024;
const MAX_BRACKETS = 64;
const DESCRIPTION_CHARS = 1_024;
const COMPATIBILITY_CHARS = 500;

/** The fields of the Agent Skills format, https://agentskills.io/specification */
const FIELDS = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"]);

export interface ParsedSkill {
  readonly skill: Skill;
  /** What is not as the format wants it and does no harm. */
  readonly warnings: readonly string[];
}

/**
 * Reads a SKILL.md: YAML frontmatter between lines of `---`, then Markdown. Any line ends, a byte order mark, quoted
 * and block scalars are fine; fields that the format does not know are warned of and passed over.
 * @throws LightAgentError `invalid_skill`, whose message says what is wrong without repeating the text
 */
export async function parseSkill(text: string): Promise<ParsedSkill> {
  const { frontmatter, body } = partsOf(text.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n"));
  const fields = await readYaml(frontmatter);
  const unknown = [...fields.keys()].map(String).filter((name) => !FIELDS.has(name));
  const name = textField(fields, "name") ?? "";
  if (!isSkillName(name)) {
    throw invalid("its name is not 1 to 64 lower-case letters, digits and single hyphens between them");
  }
  const description = (textField(fields, "description") ?? "").trim();
  if (description === "") throw invalid("it has no description");
  if (description.length > DESCRIPTION_CHARS) {
    throw invalid(`its description has more than ${DESCRIPTION_CHARS} characters`);
  }
  const compatibility = textField(fields, "compatibility");
  if ((compatibility ?? "").length > COMPATIBILITY_CHARS) {
    throw invalid(`its compatibility has more than ${COMPATIBILITY_CHARS} characters`);
  }
  const metadata = mapField(fields, "metadata");
  const skill: Skill = {
    name,
    description: description.toWellFormed(),
    license: textField(fields, "license"),
    compatibility,
    metadata: Object.fromEntries(metadata),
    allowedTools: (textField(fields, "allowed-tools") ?? "").split(/\s+/).filter((tool) => tool !== ""),
    dependencies: dependenciesIn(metadata.get("dependencies") ?? ""),
    body: body.toWellFormed(),
  };
  const shown = unknown.slice(0, 5).map((field) => field.slice(0, 64));
  const warnings = unknown.length > 0 ? [`The format has no such fields: ${shown.join(", ")}.`] : [];
  return { skill, warnings };
}

function partsOf(text: string): { frontmatter: string; body: string } {
  const lines = text.split("\n");
  const isFence = (line: string | undefined): boolean => line?.trimEnd() === "---";
  const end = isFence(lines[0]) ? lines.findIndex((line, index) => index > 0 && isFence(line)) : -1;
  if (end < 0) throw invalid("it does not begin with YAML between two lines of ---");
  const frontmatter = lines.slice(1, end).join("\n");
  if (frontmatter.length > FRONTMATTER_CHARS) {
    throw invalid(`its frontmatter has more than ${FRONTMATTER_CHARS} characters`);
  }
  const body = lines.slice(end + 1).join("\n");
  return { frontmatter, body: body.trim() };
}

/** The fields as they are written: every scalar is a string, as the format's own are. */
async function readYaml(frontmatter: string): Promise<Map<unknown, unknown>> {
  const brackets = frontmatter.match(/[[{]/g)?.length ?? 0;
  if (brackets > MAX_BRACKETS) throw invalid("its frontmatter is nested too deeply");
  const { parseDocument } = await import("yaml");
  let value: unknown;
  try {
    const document = parseDocument(frontmatter, {
      schema: "failsafe",
      prettyErrors: false,
      logLevel: "silent",
    });
    const [error] = document.errors;
    if (error) throw invalid(`its frontmatter is no valid YAML (${error.code})`);
    // No aliases: a few of them can stand for more text than there is room for.
    value = document.toJS({ mapAsMap: true, maxAliasCount: 0 });
  } catch (caught) {
    if (caught instanceof LightAgentError) throw caught;
    throw invalid("its frontmatter is no plain YAML");
  }
  if (!(value instanceof Map)) throw invalid("its frontmatter is no list of fields");
  return value;
}

function textField(fields: ReadonlyMap<unknown, unknown>, name: string): string | undefined {
  const value = fields.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid(`its field ${name} is no text`);
  return value;
}

function mapField(fields: ReadonlyMap<unknown, unknown>, name: string): Map<string, string> {
  const value = fields.get(name) ?? new Map();
  const isMap = value instanceof Map && [...value].flat().every((item) => typeof item === "string");
  if (!isMap) throw invalid(`its field ${name} is not from texts to texts`);
  return value as Map<string, string>;
}

function dependenciesIn(list: string): string[] {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (!names.every(isSkillName))
    throw invalid("its dependencies are not names of skills with commas between");
  return [...new Set(names)];
}

function invalid(why: string): LightAgentError {
  return new LightAgentError("invalid_skill", `The skill cannot be used: ${why}.`);
}
