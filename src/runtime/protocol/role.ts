import * as z from "zod";

/** What an API key may do, least first; each role includes those before it. */
export const roleSchema = z.enum(["viewer", "member", "admin"]);
export type Role = z.infer<typeof roleSchema>;

/** What a credential may do in a session. */
export const scopeSchema = z.enum(["read", "prompt", "decide"]);
export type Scope = z.infer<typeof scopeSchema>;

/** Whether a role includes another. */
export function includesRole(held: Role, wanted: Role): boolean {
  return roleSchema.options.indexOf(held) >= roleSchema.options.indexOf(wanted);
}

/** The scopes that a role gives in every session of its tenant. */
export function scopesOf(role: Role): readonly Scope[] {
  return role === "viewer" ? ["read"] : scopeSchema.options;
}
