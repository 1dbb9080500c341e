import * as z from "zod";
import type { Caller } from "../durable/session-api.ts";
import type { Act } from "../durable/tenant-management-api.ts";
import type { NewId } from "../runtime/protocol/ids.ts";
import type { Clock, MaybePromise } from "../runtime/protocol/time.ts";
import type { Access, Requirement } from "./access.ts";
import type { Credentials } from "./credentials.ts";
import type { Environment } from "./environment.ts";
import { check } from "./validation.ts";

/** HEAD follows from GET, OPTIONS is answered for every path alike. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * What a route can answer with, by status: a JSON body of a schema, a body of some media types that is not described
 * further, or no body (null).
 */
export type Responses = Readonly<Record<number, z.ZodType | readonly string[] | null>>;

/** A JSON answer, or one without a body, as a handler gives it: only what the route declares type-checks. */
export type Reply<R extends Responses> = {
  [S in keyof R & number]: R[S] extends z.ZodType
    ? { readonly status: S; readonly body: z.input<R[S]>; readonly headers?: Record<string, string> }
    : R[S] extends null
      ? { readonly status: S }
      : never;
}[keyof R & number];

/** What every handler is given. */
export interface RequestContext {
  /** Its body is read already when the route declares one. */
  readonly request: Request;
  /** The path as it came, not decoded. */
  readonly url: URL;
  readonly environment: Environment;
  readonly requestId: string;
  /** To forget what this isolate remembers of a key that is revoked. */
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Null for public routes. */
  readonly access: Access | null;
}

/** What a request brings, before the route's schemas have seen it. */
export interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** One route as data: the router, the OpenAPI document and the isolation test all read the same list. */
export interface Route {
  readonly method: Method;
  /** `/v1/sessions/:session`: each `:name` is an id. A final `*` is left to the handler. */
  readonly path: string;
  readonly summary: string;
  readonly requirement: Requirement;
  /** Null: the route has no query fields, and any is refused. */
  readonly query: z.ZodType | null;
  /** Null: the router does not touch the request's body. */
  readonly body: z.ZodType | null;
  /** The media type of a body that is bytes and the handler's business; null when there is none. */
  readonly upload: string | null;
  readonly responses: Responses;
  /** Media types besides JSON in which the answer comes: because `Accept` asks for one, or because it is a file. */
  readonly streams: readonly string[];
  readonly run: (context: RequestContext, input: RawInput) => MaybePromise<RawReply | Response>;
}

/** A handler's answer when its types are forgotten: the router writes it out. */
export interface RawReply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

type Params<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Readonly<Record<Name, string>> & Params<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Readonly<Record<Name, string>>
    : unknown;

/** The parts of a request that a route's schemas describe, in their form. */
interface Input<Path extends string, Query, Body> {
  readonly params: Params<Path>;
  readonly query: Query extends z.ZodType ? z.output<Query> : null;
  readonly body: Body extends z.ZodType ? z.output<Body> : null;
}

interface Definition<
  Context,
  Path extends string,
  Query extends z.ZodType | null,
  Body extends z.ZodType | null,
  R extends Responses,
> {
  readonly method: Method;
  readonly path: Path;
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly upload?: string;
  readonly responses: R;
  readonly streams?: readonly string[];
  readonly handle: (
    context: Context & Input<Path, Query, Body>,
  ) => MaybePromise<Reply<NoInfer<R>> | Response>;
}

/** A route that needs no credential. */
export function publicRoute<
  Path extends string,
  R extends Responses,
  Q extends z.ZodType | null = null,
  B extends z.ZodType | null = null,
>(definition: Definition<RequestContext, Path, Q, B, R>): Route {
  return build(definition, "public", (context) => context);
}

/** What the handler of a root route is given. */
export interface RootContext extends RequestContext {
  readonly act: Act;
}

/** A route for the root key; what it does is in the audit log as done by `root`. */
export function rootRoute<
  Path extends string,
  R extends Responses,
  Q extends z.ZodType | null = null,
  B extends z.ZodType | null = null,
>(definition: Definition<RootContext, Path, Q, B, R>): Route {
  return build(definition, "root", (context): RootContext => ({
    ...context,
    act: { by: { kind: "key", id: "root" }, keyId: "root", requestId: context.requestId },
  }));
}

/** What the handler of a tenant's route is given: who calls is verified and may use the route. */
export interface TenantContext extends RequestContext {
  readonly caller: Caller;
  readonly act: Act;
}

/**
 * A route for credentials of a tenant. The tenant is the one of the verified credential: no handler is told another,
 * and object names are made of it in objects.ts alone.
 */
export function tenantRoute<
  Path extends string,
  R extends Responses,
  Q extends z.ZodType | null = null,
  B extends z.ZodType | null = null,
>(requirement: Exclude<Requirement, string>, definition: Definition<TenantContext, Path, Q, B, R>): Route {
  return build(definition, requirement, (context) => {
    const { access } = context;
    if (access === null || access.kind === "root") throw new TypeError("The router lets no other through.");
    const { caller } = access;
    return {
      ...context,
      caller,
      act: { by: caller.principal, keyId: caller.keyId, requestId: context.requestId },
    };
  });
}

function build<
  Context,
  Path extends string,
  R extends Responses,
  Q extends z.ZodType | null,
  B extends z.ZodType | null,
>(
  definition: Definition<Context, Path, Q, B, R>,
  requirement: Requirement,
  extend: (context: RequestContext) => Context,
): Route {
  const { method, path, summary, responses, streams = [], upload = null, handle } = definition;
  const query = definition.query ?? null;
  const body = definition.body ?? null;
  return {
    method,
    path,
    summary,
    requirement,
    query,
    body,
    upload,
    responses,
    streams,
    run: (context, raw) => {
      const input = {
        params: raw.params,
        query: check(query ?? NO_FIELDS, raw.query, "query"),
        body: body && check(body, raw.body, "body"),
      };
      // The router took the params from this very path, and the rest has just been checked against these schemas.
      return handle({ ...extend(context), ...input } as Context & Input<Path, Q, B>);
    },
  };
}

const NO_FIELDS = z.strictObject({});
