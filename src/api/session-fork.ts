import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { SessionState } from "../runtime/protocol/frames.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";
import type { CreateId } from "./idempotency.ts";
import { sessionObject, tenantObject } from "./objects.ts";
import type { TenantContext } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { nameSchema } from "./validation.ts";

/** The body of a fork. Without `atSeq` it begins where the session stands, or before the turn that runs. */
export const forkBody = z.strictObject({
  id: idSchema.exactOptional(),
  atSeq: z.int().nonnegative().exactOptional(),
  title: nameSchema.exactOptional(),
});

/** Failures after which a fork may still become complete: it goes on by itself, or when it is asked for again. */
const MAY_PASS: ReadonlySet<string> = new Set(["unavailable", "internal"]);

/**
 * Creates a session that begins as another was at a point. A repeated request finds what the first has made, also
 * where that is not complete yet: the new session itself knows its point, and goes on.
 * @throws not_found, invalid_request; id_taken, idempotency_mismatch, too_many_sessions; unavailable while the new
 *   session is not complete; workspace_full when its workspace has as many branches as may be
 */
export async function forkSession(
  context: TenantContext,
  parent: string,
  { id, repeatable }: CreateId,
  body: Omit<z.output<typeof forkBody>, "id">,
): Promise<SessionState> {
  const { environment, act, caller } = context;
  const { atSeq = null, title } = body;
  const { tenant } = caller;
  const index = tenantObject(environment, tenant);
  const fork = sessionObject(environment, tenant, id);
  const digest = await sha256Hex(JSON.stringify({ fork: parent, atSeq, title }));
  const existing = await fork.state();
  if (!existing.ok && existing.error.code !== "not_found") return unwrap(existing);
  const point = existing.ok
    ? null
    : unwrap(await sessionObject(environment, tenant, parent).forkPoint(id, atSeq));
  const { agent, agentVersion, workspace, title: given } = point?.settings ?? unwrap(existing);
  const request = { id, repeatable, digest, agent, agentVersion, workspace, title: title ?? given };
  const admitted = unwrap(await index.admitSession(request, act));
  if (!point) {
    if (repeatable) return unwrap(existing);
    throw new LightAgentError("id_taken", "There is a session with this id.");
  }
  const input = {
    ...point.settings,
    tenant,
    id,
    branch: id,
    origins: point.origins,
    title: request.title,
    limits: admitted.limits,
    by: caller.principal,
  };
  const created = await fork.create(input, point.from);
  if (created.ok) return created.value;
  // What can never be complete does not stand in the list.
  if (admitted.fresh && !MAY_PASS.has(created.error.code)) unwrap(await index.removeSession(id, act));
  return unwrap(created);
}
