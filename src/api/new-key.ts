import type { KeyView, NewKey, Repeatable } from "../durable/tenant-management-api.ts";
import * as z from "zod";
import { roleSchema } from "../runtime/protocol/role.ts";
import { deriveApiKey, issueApiKey } from "./api-key.ts";
import { secretsOf } from "./configuration.ts";
import { createId } from "./idempotency.ts";
import type { RequestContext } from "./route.ts";
import { nameSchema } from "./validation.ts";

/** What is asked for a new key. */
export const keyBody = z.strictObject({ name: nameSchema.min(1), role: roleSchema });

/** A key as it is listed. */
export const keyView = z.object({
  id: z.string(),
  name: z.string(),
  role: roleSchema,
  createdAt: z.number(),
});

/** A key is shown in full in the answer to its creation, and never again. */
export const issuedKeyView = keyView.extend({ apiKey: z.string() });

/** A new key: what the tenant stores of it, and its text. */
export interface NewKeyAndText {
  readonly key: NewKey & Repeatable;
  readonly apiKey: string;
}

/** Makes a key for a tenant. With an `Idempotency-Key` the same request makes the same key. */
export async function makeKey(
  context: RequestContext,
  tenant: string,
  route: string,
  body: Pick<KeyView, "name" | "role">,
): Promise<NewKeyAndText> {
  const { id, repeatable } = await createId(context, tenant, route);
  const { SIGNING_KEY } = secretsOf(context.environment);
  const { apiKey, hash } = await (repeatable
    ? deriveApiKey(tenant, id, SIGNING_KEY)
    : issueApiKey(tenant, id));
  return { key: { id, name: body.name, role: body.role, hash, repeatable }, apiKey };
}
