import { LightAgentError } from "../protocol/errors.ts";

/** Names that lead inside somebody's own network. */
const PRIVATE =
  /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|corp|home|test|example|invalid)$/;

/**
 * A URL that a tenant names and this deployment calls with the tenant's key: https to a public DNS name on port 443,
 * without credentials, query or fragment. The host is looked at after parsing, which writes every spelling of an
 * address in one way.
 * @param own the host that this deployment is reached by
 * @returns the URL without a slash at its end
 * @throws LightAgentError `invalid_request`
 */
export function checkPublicUrl(text: string, own: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "https:") throw refused("is not an https URL");
  if (url.username !== "" || url.password !== "") throw refused("holds credentials");
  if (url.search !== "" || url.hash !== "") throw refused("has a query or a fragment");
  if (url.port !== "") throw refused("names a port");
  const host = url.hostname.replace(/\.$/, "");
  const isAddress = host.startsWith("[") || /^[\d.]+$/.test(host);
  if (isAddress || !host.includes(".") || PRIVATE.test(host)) throw refused("is not on a public DNS name");
  if (host === own.toLowerCase() || host.endsWith(`.${own.toLowerCase()}`))
    throw refused("is this deployment's own");
  return url.href.replace(/\/+$/, "");
}

function refused(why: string): LightAgentError {
  return new LightAgentError("invalid_request", `The base URL ${why}.`);
}
