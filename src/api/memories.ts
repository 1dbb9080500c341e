import * as z from "zod";
import { unwrap } from "../runtime/protocol/answer.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { memoryKindSchema } from "../runtime/protocol/recalled-memory.ts";
import { memoryObject, tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { commaList, pageOf, pageQuery } from "./validation.ts";

const READ = { role: "viewer", scope: "none" } as const;
const CHANGE = { role: "member", scope: "none" } as const;

const memoryView = z.object({
  id: z.string(),
  kind: memoryKindSchema,
  content: z.string(),
  origin: z.object({ session: z.string(), seq: z.int() }).readonly(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const memoryQuery = z
  .strictObject({
    ...pageQuery.unwrap().shape,
    query: z.string().min(1).max(1_000).nullable().default(null),
    kinds: commaList(memoryKindSchema).nullable().default(null),
  })
  .refine(({ query, kinds }) => query !== null || kinds === null, "`kinds` needs a `query`");

/** What agents remember of the user who calls: of `x-user-id`, or of the key itself without it. */
export const memoryRoutes: readonly Route[] = [
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/agents/:agent/memories",
    summary:
      "What an agent remembers of the user (`x-user-id`): the latest first, or what fits the words of `query` best.",
    query: memoryQuery,
    responses: { 200: pageOf(memoryView) },
    async handle({ environment, caller, params, query: { query, kinds, ...page } }) {
      unwrap(await tenantObject(environment, caller.tenant).agent(params.agent));
      const memory = memoryObject(environment, caller.tenant, params.agent, caller.principal);
      if (query === null) return { status: 200, body: unwrap(await memory.list(page)) };
      const options = { limit: page.limit, ...(kinds && { kinds }) };
      return { status: 200, body: { data: unwrap(await memory.search(query, options)), next: null } };
    },
  }),
  tenantRoute(CHANGE, {
    method: "DELETE",
    path: "/v1/agents/:agent/memories/:memory",
    summary: "Deletes one thing that an agent remembers of the user.",
    responses: { 204: null },
    async handle({ environment, caller, act, params }) {
      const tenant = tenantObject(environment, caller.tenant);
      unwrap(await tenant.agent(params.agent));
      const memory = memoryObject(environment, caller.tenant, params.agent, caller.principal);
      if (!unwrap(await memory.forget(params.memory))) {
        throw new LightAgentError("not_found", "There is no such memory.");
      }
      unwrap(await tenant.record("memory.delete", `memory:${params.memory}`, act));
      return { status: 204 };
    },
  }),
  tenantRoute(CHANGE, {
    method: "DELETE",
    path: "/v1/agents/:agent/memories",
    summary: "Deletes all that an agent remembers of the user.",
    responses: { 202: null },
    async handle({ environment, caller, act, params }) {
      const tenant = tenantObject(environment, caller.tenant);
      unwrap(await tenant.agent(params.agent));
      unwrap(await tenant.removeMemories(caller.principal, params.agent, act));
      return { status: 202 };
    },
  }),
  tenantRoute(CHANGE, {
    method: "DELETE",
    path: "/v1/memories",
    summary: "Deletes all that any agent remembers of the user.",
    responses: { 202: null },
    async handle({ environment, caller, act }) {
      unwrap(await tenantObject(environment, caller.tenant).removeMemories(caller.principal, null, act));
      return { status: 202 };
    },
  }),
];
