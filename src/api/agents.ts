import * as z from "zod";
import type { AgentView } from "../durable/tenant-management-api.ts";
import { deployment } from "../deployment.ts";
import { compilePolicy } from "../runtime/guard/permission-policy.ts";
import { compileOutputSchema } from "../runtime/model/structured/output-schema.ts";
import { agentDefinitionSchema } from "../runtime/protocol/agent-definition.ts";
import type { AgentDefinition } from "../runtime/protocol/agent-definition.ts";
import { LightAgentError, isLightAgentError } from "../runtime/protocol/errors.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import type { Environment } from "./environment.ts";
import { createId } from "./idempotency.ts";
import { tenantObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { pageOf, pageQuery } from "./validation.ts";

const READ = { role: "viewer", scope: "none" } as const;
const CHANGE = { role: "admin", scope: "none" } as const;

const agentView = agentDefinitionSchema.extend({
  id: z.string(),
  version: z.int(),
  createdAt: z.number(),
});

/**
 * Refuses at once what would fail each turn.
 * @throws invalid_request for a tool or model that there is not, or a policy or output schema that cannot be compiled
 */
async function checkOffered(
  { tools = [], model, routes = [], output, policy }: AgentDefinition,
  environment: Environment,
): Promise<void> {
  if (policy) await compilePolicy(policy);
  const unknown = tools.filter((name) => !deployment.tools.some((tool) => tool.name === name));
  if (unknown.length > 0) {
    throw new LightAgentError(
      "invalid_request",
      "The agent names tools that this deployment does not have.",
      {
        tools: unknown,
      },
    );
  }
  if (output) compileOutputSchema(output.schema);
  const names = routes.map(({ name }) => name);
  if (new Set(names).size < names.length) {
    throw new LightAgentError("invalid_request", "Two routes of the agent have one name.");
  }
  const models = routes.map((route) => route.model);
  for (const id of model === undefined || names.includes(model) ? models : [model, ...models]) {
    checkModel(id, environment);
  }
}

/** A model that only lacks its key is no mistake of the agent: the key may be set later. */
function checkModel(id: string, environment: Environment): void {
  try {
    deployment.model(id, environment);
  } catch (caught) {
    if (!isLightAgentError(caught) || caught.code !== "not_configured") throw caught;
  }
}

function shown({ definition, ...rest }: AgentView): z.input<typeof agentView> {
  return { ...definition, ...rest };
}

/** Definitions of agents: everyone in the tenant sees them, admins change them, each change is a new version. */
export const agentRoutes: readonly Route[] = [
  tenantRoute(CHANGE, {
    method: "POST",
    path: "/v1/agents",
    summary: "Defines an agent: its version 1.",
    body: agentDefinitionSchema.extend({ id: idSchema.exactOptional() }),
    responses: { 201: agentView },
    async handle(context) {
      const { environment, caller, act } = context;
      const { id: chosen, ...definition } = context.body;
      await checkOffered(definition, environment);
      const { id, repeatable } = await createId(context, caller.tenant, "POST /v1/agents", chosen);
      const tenant = tenantObject(environment, caller.tenant);
      const agent = unwrap(await tenant.createAgent({ id, definition, repeatable }, act));
      return { status: 201, body: shown(agent) };
    },
  }),
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/agents",
    summary: "Lists the agents, each in its newest version.",
    query: pageQuery,
    responses: { 200: pageOf(agentView) },
    async handle({ environment, caller, query }) {
      const { data, next } = unwrap(await tenantObject(environment, caller.tenant).listAgents(query));
      return { status: 200, body: { data: data.map(shown), next } };
    },
  }),
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/agents/:agent",
    summary: "The newest version of an agent.",
    responses: { 200: agentView },
    async handle({ environment, caller, params }) {
      const agent = unwrap(await tenantObject(environment, caller.tenant).agent(params.agent));
      return { status: 200, body: shown(agent) };
    },
  }),
  tenantRoute(CHANGE, {
    method: "PUT",
    path: "/v1/agents/:agent",
    summary: "Makes a new version of an agent. Sessions keep the version that they began with.",
    body: agentDefinitionSchema,
    responses: { 200: agentView },
    async handle({ environment, caller, act, params, body }) {
      const tenant = tenantObject(environment, caller.tenant);
      await checkOffered(body, environment);
      const agent = unwrap(await tenant.changeAgent(params.agent, body, act));
      return { status: 200, body: shown(agent) };
    },
  }),
  tenantRoute(READ, {
    method: "GET",
    path: "/v1/agents/:agent/versions",
    summary: "Lists the versions of an agent, newest first.",
    query: pageQuery,
    responses: { 200: pageOf(agentView) },
    async handle({ environment, caller, params, query }) {
      const tenant = tenantObject(environment, caller.tenant);
      const { data, next } = unwrap(await tenant.listAgentVersions(params.agent, query));
      return { status: 200, body: { data: data.map(shown), next } };
    },
  }),
];
