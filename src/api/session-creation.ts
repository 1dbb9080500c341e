import * as z from "zod";
import { deployment } from "../deployment.ts";
import { budgetSchema } from "../runtime/protocol/agent-definition.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { SessionState } from "../runtime/protocol/frames.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import type { CreateId } from "./idempotency.ts";
import { sessionObject, tenantObject, workspaceObject } from "./objects.ts";
import type { TenantContext } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { nameSchema } from "./validation.ts";

/** The agent of sessions that name none; every tenant has it. */
const DEFAULT_AGENT = "default";

/** What a caller may keep with a session for its own purposes. It is part of every `state`. */
const metadataSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (metadata) => JSON.stringify(metadata).length <= deployment.limits.metadataChars,
    `has more than ${deployment.limits.metadataChars} characters as JSON`,
  );

/** What can be set at a session's creation and changed later. */
export const sessionFields = {
  title: nameSchema.exactOptional(),
  metadata: metadataSchema.exactOptional(),
  budget: budgetSchema.exactOptional(),
  followAgent: z
    .boolean()
    .describe("Whether each turn begins with the agent's newest version; without it the first one stays.")
    .exactOptional(),
};

/** The body of a session's creation. */
export const sessionBody = z.strictObject({
  id: idSchema.exactOptional(),
  agent: idSchema.exactOptional(),
  workspace: idSchema.exactOptional(),
  ...sessionFields,
});

/**
 * Creates a session, and its own workspace when it names none. The tenant's index comes first and pins what the
 * session begins with, so that a request that was cut off is completed when it is repeated.
 * @throws too_many_sessions, id_taken, idempotency_mismatch; not_found for an unknown agent or workspace
 */
export async function createSession(
  context: TenantContext,
  { id, repeatable }: CreateId,
  body: Omit<z.output<typeof sessionBody>, "id">,
): Promise<SessionState> {
  const { environment, act } = context;
  const { tenant, principal } = context.caller;
  const { agent = DEFAULT_AGENT, workspace = null, title = "", metadata = {}, budget, followAgent } = body;
  const digest = await sha256Hex(
    JSON.stringify({ agent, workspace, title, metadata, budget, followAgent: followAgent || undefined }),
  );
  const request = { id, repeatable, digest, agent, workspace, title };
  const admitted = unwrap(await tenantObject(environment, tenant).admitSession(request, act));
  const session = sessionObject(environment, tenant, id);
  if (!admitted.fresh) {
    const existing = await session.state();
    if (existing.ok && !repeatable) throw new LightAgentError("id_taken", "There is a session with this id.");
    if (existing.ok || existing.error.code !== "not_found") return unwrap(existing);
  }
  if (workspace === null) {
    const own = workspaceObject(environment, tenant, admitted.workspace);
    unwrap(await own.create({ tenant, id: admitted.workspace, name: id, by: principal }));
  }
  return unwrap(
    await session.create({
      tenant,
      id,
      agent: admitted.agent.id,
      agentVersion: admitted.agent.version,
      definition: admitted.agent.definition,
      workspace: admitted.workspace,
      title,
      metadata,
      ...(budget && { budget }),
      ...(followAgent && { followAgent }),
      ...(admitted.skills && { skills: admitted.skills }),
      limits: admitted.limits,
      by: principal,
    }),
  );
}
