import { Hono } from "hono";
import type { Context } from "hono";
import { deployment } from "../deployment.ts";
import { traceOf } from "../runtime/protocol/error-trace.ts";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { NewId } from "../runtime/protocol/ids.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import { authorize } from "./access.ts";
import { secretsOf } from "./configuration.ts";
import { Credentials } from "./credentials.ts";
import type { Environment } from "./environment.ts";
import { addCorsHeaders, preflight } from "./origins.ts";
import { readJson } from "./request-body.ts";
import { addCommonHeaders, classify, errorResponse } from "./responses.ts";
import type { RawReply, Route } from "./route.ts";
import { queryFields } from "./validation.ts";

/** What the API is made of beside its routes. */
export interface ApiOptions {
  readonly routes: readonly Route[];
  readonly clock: Clock;
  readonly newId: NewId;
  /** Takes one line of the operator's log. */
  readonly log: (line: Record<string, unknown>) => void;
}

interface Bindings {
  readonly environment: Environment;
  readonly requestId: string;
}

type ApiContext = Context<{ Bindings: Bindings }>;
type Router = Hono<{ Bindings: Bindings }>;

/** The path that works in every state of the deployment. */
const HEALTH = "/healthz";

/** The HTTP API: `fetch` of the Worker. Never throws; every answer is one of the documented forms. */
export function createApi(
  options: ApiOptions,
): (request: Request, environment: Environment) => Promise<Response> {
  const router = mount(options);
  return async (request, environment) => {
    const requestId = options.newId();
    const response = await respond(router, request, { environment, requestId });
    addCommonHeaders(response.headers, requestId);
    addCorsHeaders(response.headers, request, environment);
    return response;
  };
}

function respond(router: Router, request: Request, bindings: Bindings): Response | Promise<Response> {
  if (request.method === "OPTIONS") return preflight();
  try {
    if (new URL(request.url).pathname !== HEALTH) secretsOf(bindings.environment);
  } catch (caught) {
    return errorResponse(caught);
  }
  return router.fetch(request, bindings);
}

function mount(options: ApiOptions): Router {
  // The raw path: decoding it first would let one object be named in many ways.
  const router = new Hono<{ Bindings: Bindings }>({ getPath: (request) => new URL(request.url).pathname });
  const credentials = new Credentials(options.clock);

  /** Whatever goes wrong becomes an answer; what nobody expected becomes a line of the log, too. */
  async function guarded(context: ApiContext, body: () => Promise<Response>): Promise<Response> {
    try {
      return await body();
    } catch (caught) {
      const error = classify(caught);
      const response = errorResponse(error);
      if (response.status === 500) {
        const { requestId } = context.env;
        options.log({ event: "internal_error", requestId, method: context.req.method, ...traceOf(error) });
      }
      return response;
    }
  }

  /** In this order: who calls, may they, is there such a thing, is the request in form. Then the route. */
  async function serve(route: Route, context: ApiContext): Promise<Response> {
    const { environment, requestId } = context.env;
    const request = context.req.raw;
    const url = new URL(request.url);
    const named = idsOf(route.path, url.pathname);
    const isPublic = route.requirement === "public";
    const access = isPublic ? null : await credentials.authenticate(request, environment);
    if (route.requirement !== "public" && access) authorize(route.requirement, access, named?.["session"]);
    if (named === null) throw new LightAgentError("not_found", "There is nothing here.");
    const body = route.body && (await readJson(request, deployment.limits.bodyBytes));
    const { clock, newId } = options;
    const reply = await route.run(
      { request, url, environment, requestId, credentials, clock, newId, access },
      { params: named, query: queryFields(url), body },
    );
    const response = reply instanceof Response ? reply : toResponse(reply);
    // Of an answer to HEAD only the headers go out: what would produce the body is told to stop.
    if (request.method === "HEAD") await response.body?.cancel();
    return response;
  }

  for (const route of options.routes) {
    router.on(route.method, route.path, (context) => guarded(context, () => serve(route, context)));
  }
  for (const [path, methods] of methodsByPath(options.routes)) {
    router.all(path, (context) =>
      guarded(context, () => {
        const allow = methods.includes("GET") ? [...methods, "HEAD"] : methods;
        throw new LightAgentError("method_not_allowed", "The resource has no such method.", { allow });
      }),
    );
  }
  router.notFound((context) =>
    guarded(context, () => {
      throw new LightAgentError("not_found", "There is nothing here.");
    }),
  );
  return router;
}

/**
 * The ids in a path, taken from the same segments as they came, so that an id in percent-encoding is no id. Null
 * when one is not an id: there is no such resource.
 */
function idsOf(pattern: string, pathname: string): Record<string, string> | null {
  const segments = pathname.split("/");
  const ids: Record<string, string> = {};
  for (const [index, name] of pattern.split("/").entries()) {
    if (!name.startsWith(":")) continue;
    const parsed = idSchema.safeParse(segments[index]);
    if (!parsed.success) return null;
    ids[name.slice(1)] = parsed.data;
  }
  return ids;
}

/** For paths that exist without the method that was asked for. */
function methodsByPath(routes: readonly Route[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) methods.set(path, [...(methods.get(path) ?? []), method]);
  return methods;
}

function toResponse({ status, body, headers }: RawReply): Response {
  if (body === undefined) return new Response(null, { status });
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}
