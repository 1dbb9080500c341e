import { LightAgentError } from "../runtime/protocol/errors.ts";

/** The opaque tags of If-Match or If-None-Match without their quotes; `*` stands for whatever is there. */
type EntityTags = "*" | readonly { readonly tag: string; readonly weak: boolean }[];

/** The conditions of a request (RFC 9110, section 13); null where the header is absent. */
export interface Conditions {
  readonly ifMatch: EntityTags | null;
  readonly ifNoneMatch: EntityTags | null;
}

/** @throws invalid_request for a header that cannot be read: ignoring it would turn a careful write into a blind one */
export function conditionsOf(headers: Headers): Conditions {
  return { ifMatch: tagsOf(headers, "if-match"), ifNoneMatch: tagsOf(headers, "if-none-match") };
}

/** @param current The tag of what is there; null when nothing is */
export function ifMatchHolds({ ifMatch }: Conditions, current: string | null): boolean {
  if (ifMatch === null) return true;
  if (current === null) return false;
  return ifMatch === "*" || ifMatch.some(({ tag, weak }) => tag === current && !weak);
}

export function ifNoneMatchHolds({ ifNoneMatch }: Conditions, current: string | null): boolean {
  if (ifNoneMatch === null || current === null) return true;
  return ifNoneMatch !== "*" && !ifNoneMatch.some(({ tag }) => tag === current);
}

function tagsOf(headers: Headers, name: string): EntityTags | null {
  const value = headers.get(name)?.trim();
  if (value === undefined) return null;
  if (value === "*") return "*";
  if (!/^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/.test(value)) {
    throw new LightAgentError(
      "invalid_request",
      `The header ${name} is neither \`*\` nor a list of quoted tags.`,
    );
  }
  return [...value.matchAll(/(W\/)?"([^"]*)"/g)].map(([, weak, tag = ""]) => ({
    tag,
    weak: weak !== undefined,
  }));
}
