import * as z from "zod";
import { deployment } from "../deployment.ts";
import { parseSkill } from "../runtime/context/skills/parse-skill.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import { canonicalPath } from "../runtime/workspace/canonical-path.ts";
import { sessionObject, tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { pageOf, pageQuery } from "./validation.ts";

const READ = { role: "viewer", scope: "none" } as const;
const CHANGE = { role: "admin", scope: "none" } as const;
const { skillBytes, skillFiles, skillFilesBytes } = deployment.limits;

const wellFormed = (text: string): boolean => text.isWellFormed();

const skillBody = z.strictObject({
  content: z.string().refine(wellFormed, "has a lone surrogate"),
  files: z.record(z.string(), z.string().refine(wellFormed, "has a lone surrogate")).exactOptional(),
});

const skillView = z.object({
  name: z.string(),
  version: z.int(),
  digest: z.string(),
  description: z.string(),
  dependencies: z.array(z.string()).readonly(),
  paths: z.array(z.string()).readonly(),
  createdAt: z.number(),
});

const sessionSkills = z.object({
  skills: z
    .array(
      z.object({
        name: z.string(),
        description: z.string(),
        dependencies: z.array(z.string()).readonly(),
        source: z.enum(["agent", "library", "workspace"]),
      }),
    )
    .readonly(),
  problems: z
    .array(
      z.object({
        level: z.enum(["warning", "error"]),
        source: z.enum(["agent", "library", "workspace"]),
        skill: z.string(),
        message: z.string(),
      }),
    )
    .readonly(),
});

/** The tenant's library of skills, which its agents name, and what a session has of all skills. */
export const skillRoutes: readonly Route[] = [
  tenantRoute(CHANGE, {
    method: "PUT",
    path: "/v1/skills/:skill",
    summary:
      "Stores a skill (SKILL.md and its files) in the library. Sessions keep the version that they began with.",
    body: skillBody,
    responses: { 200: skillView.extend({ warnings: z.array(z.string()).readonly() }) },
    async handle({ environment, caller, act, params, body }) {
      const { content } = body;
      requireSize("SKILL.md", [content], skillBytes);
      const { skill, warnings } = await parseSkill(content);
      const { name, description, dependencies } = skill;
      if (name !== params.skill) {
        throw new LightAgentError("invalid_skill", "The skill's name is not the one in the path.");
      }
      const files = filesOf(body.files ?? {});
      const digest = await sha256Hex(JSON.stringify([content, files]));
      const stored = { name, description, dependencies, content, files, digest };
      const view = unwrap(await tenantObject(environment, caller.tenant).putSkill(stored, act));
      return { status: 200, body: { ...view, warnings } };
    },
  }),
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/skills",
    summary: "Lists the library, each skill in its newest version, without its texts.",
    query: pageQuery,
    responses: { 200: pageOf(skillView) },
    async handle({ environment, caller, query }) {
      return {
        status: 200,
        body: unwrap(await tenantObject(environment, caller.tenant).listSkills(query)),
      };
    },
  }),
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/skills/:skill",
    summary: "The newest version of a skill of the library, with its texts.",
    responses: { 200: skillView.extend({ content: z.string(), files: z.record(z.string(), z.string()) }) },
    async handle({ environment, caller, params }) {
      const skill = unwrap(await tenantObject(environment, caller.tenant).skill(params.skill));
      return { status: 200, body: { ...skill, files: { ...skill.files } } };
    },
  }),
  tenantRoute(CHANGE, {
    method: "DELETE",
    path: "/v1/skills/:skill",
    summary: "Deletes a skill from the library. Sessions that have it can load it no more.",
    responses: { 204: null },
    async handle({ environment, caller, act, params }) {
      unwrap(await tenantObject(environment, caller.tenant).removeSkill(params.skill, act));
      return { status: 204 };
    },
  }),
  tenantRoute(
    { role: "viewer", scope: "read" },
    {
      method: "GET",
      path: "/v1/sessions/:session/skills",
      summary:
        "The skills of a session, or the three that fit the words of `query` best, and what is wrong with others.",
      query: z.strictObject({ query: z.string().min(1).max(1_000).nullable().default(null) }),
      responses: { 200: sessionSkills },
      async handle({ environment, caller, params, query }) {
        const session = sessionObject(environment, caller.tenant, params.session);
        return { status: 200, body: unwrap(await session.skills(query.query)) };
      },
    },
  ),
];

/** The files by their paths in one form, in order. @throws invalid_path, invalid_skill */
function filesOf(files: Readonly<Record<string, string>>): Record<string, string> {
  const all = Object.entries(files).map(([path, text]) => [canonicalPath(path), text] as const);
  if (all.length > skillFiles) {
    throw new LightAgentError("invalid_skill", `A skill may have ${skillFiles} files.`);
  }
  if (new Set(all.map(([path]) => path)).size < all.length || all.some(([path]) => path === "SKILL.md")) {
    throw new LightAgentError("invalid_skill", "Two files of the skill have one path.");
  }
  requireSize(
    "the files",
    all.map(([, text]) => text),
    skillFilesBytes,
  );
  return Object.fromEntries(all.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function requireSize(what: string, texts: readonly string[], maxBytes: number): void {
  const encoder = new TextEncoder();
  const bytes = texts.reduce((sum, text) => sum + encoder.encode(text).length, 0);
  if (bytes <= maxBytes) return;
  const message = `Of a skill ${what} may have ${maxBytes} bytes.`;
  throw new LightAgentError("invalid_skill", message, { bytes, maxBytes });
}
