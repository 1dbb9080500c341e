import { env, exports } from "cloudflare:workers";

export const ORIGIN = "https://light-agent.test";

/** A request as a stranger sends it: nothing is added. */
export function send(path: string, init: RequestInit = {}): Promise<Response> {
  return exports.default.fetch(new Request(`${ORIGIN}${path}`, init));
}

/** A JSON request with a bearer credential. */
export function sendAs(
  credential: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  return send(path, {
    method,
    headers: { authorization: `Bearer ${credential}`, ...json, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The root key's request. */
export function sendAsRoot(method: string, path: string, body?: unknown): Promise<Response> {
  return sendAs(env.ROOT_KEY, method, path, body);
}

/** The code of an error answer. */
export async function codeOf(response: Response): Promise<string> {
  const { error } = await response.json<{ error?: { code: string } }>();
  return error?.code ?? `no error, ${response.status}`;
}
