import type { Caller } from "../durable/session-api.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { includesRole } from "../runtime/protocol/role.ts";
import type { Role, Scope } from "../runtime/protocol/role.ts";

/** What a verified credential is. */
export type Access =
  | { readonly kind: "root" }
  | { readonly kind: "key"; readonly caller: Caller; readonly role: Role }
  /** Good for this one session only. */
  | { readonly kind: "token"; readonly caller: Caller; readonly session: string };

/**
 * What a route asks for: nothing, the root key, or a tenant's credential. For the last an API key needs the role,
 * a session token the scope; `none` is for routes that no token may use.
 */
export type Requirement = "public" | "root" | { readonly role: Role; readonly scope: Scope | "none" };

/**
 * Lets a credential through, or not.
 * @param session The session that the request names, if it names one
 * @throws forbidden
 */
export function authorize(
  requirement: Exclude<Requirement, "public">,
  access: Access,
  session: string | undefined,
): void {
  if (requirement === "root") {
    if (access.kind !== "root") throw refusal("Only the root key may do this.");
    return;
  }
  switch (access.kind) {
    case "root":
      throw refusal("The root key manages tenants only: use one of the tenant's keys.");
    case "key":
      if (includesRole(access.role, requirement.role)) return;
      throw refusal(`This needs the role ${requirement.role}.`);
    case "token":
      if (requirement.scope === "none") throw refusal("A session token may not do this.");
      if (session !== access.session) throw refusal("The token is for another session.");
      if (access.caller.scopes.includes(requirement.scope)) return;
      throw refusal(`This needs the scope ${requirement.scope}.`);
  }
}

function refusal(message: string): LightAgentError {
  return new LightAgentError("forbidden", message);
}
