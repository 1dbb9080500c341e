import * as z from "zod";
import { ERROR_CODES } from "../runtime/protocol/errors.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import type { Requirement } from "./access.ts";
import type { Route } from "./route.ts";

type Json = Record<string, unknown>;

/** The parts of an OpenAPI 3.1 document that we write. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly security: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Json;
}

/** One route in the document. */
export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly Json[];
  readonly parameters: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

/** The API's description, made of the same schemas that check requests. */
export function describeApi(routes: readonly Route[]): OpenApiDocument {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes) {
    const path = templateOf(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "light-agent", version: "1", description: DESCRIPTION },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { Error: schemaOf(errorSchema, "output") },
      responses: {
        Error: {
          description: "An error, with the status of its code.",
          headers: { "x-request-id": { schema: { type: "string" } } },
          content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
        },
      },
    },
  };
}

const DESCRIPTION =
  "Credentials are the root key, an API key (`la_<tenant>.<id>.<secret>`) or a session token, as " +
  "`Authorization: Bearer`. With an API key the header `x-user-id` names the end user. `Idempotency-Key` makes a " +
  "create repeatable; on a prompt it is the promptId. Unknown fields are refused. Lists are read with `limit` and " +
  "`cursor`, the `next` of the part before.";

const errorSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(ERROR_CODES)),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** One operation: its schemas are those that the router checks with. */
function describeRoute(route: Route): OpenApiOperation {
  const { method, path, summary, requirement } = route;
  return {
    operationId: operationId(method, path),
    summary,
    description: needs(requirement),
    tags: [path.split("/")[1] === "v1" ? (path.split("/")[2] ?? "") : "service"],
    ...(requirement === "public" && { security: [] }),
    parameters: [...pathParameters(path), ...queryParameters(route.query), ...headerParameters(method)],
    ...requestBody(route),
    responses: { ...describeResponses(route), default: { $ref: "#/components/responses/Error" } },
  };
}

function requestBody({ body, upload }: Route): { requestBody?: Json } {
  if (upload !== null) return { requestBody: { required: true, content: { [upload]: {} } } };
  if (body === null) return {};
  const content = { "application/json": { schema: schemaOf(body, "input") } };
  return { requestBody: { required: !body.safeParse({}).success, content } };
}

/** What a credential needs for a route, in words. */
export function needs(requirement: Requirement): string {
  if (requirement === "public") return "No credential.";
  if (requirement === "root") return "The root key.";
  const token = requirement.scope === "none" ? "no session token" : `a token with scope ${requirement.scope}`;
  return `An API key with role ${requirement.role}; ${token}.`;
}

/** `/v1/sessions/:session/files/*` as OpenAPI writes it. */
function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
}

/** `POST /v1/sessions/:session/prompt` is `postSessionsSessionPrompt`: unique, and stable while the path is. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/v1/, "").split(/\W+/).filter(Boolean);
  const name = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
  return method.toLowerCase() + name;
}

/** Ids, and for a final `*` the path of a file, which may hold slashes. */
function pathParameters(path: string): Json[] {
  const id = schemaOf(idSchema, "input");
  const ids = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: id,
  }));
  if (!path.endsWith("*")) return ids;
  return [...ids, { name: "path", in: "path", required: true, schema: { type: "string" } }];
}

/** What a query field means stands in its output: the input is text, always. */
function queryParameters(query: z.ZodType | null): Json[] {
  if (query === null) return [];
  const { properties = {} } = schemaOf(query, "output") as { properties?: Record<string, Json> };
  const { required = [] } = schemaOf(query, "input") as { required?: string[] };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
    ...(schema["type"] === "array" && { style: "form", explode: false }),
  }));
}

/** Every POST may be repeated under a key. */
function headerParameters(method: string): Json[] {
  if (method !== "POST") return [];
  return [
    { name: "Idempotency-Key", in: "header", required: false, schema: { type: "string", maxLength: 255 } },
  ];
}

/** Answers by status. Streams are described by their media types; their events are those of the JSON page. */
function describeResponses({ responses, streams, summary }: Route): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const media = response instanceof z.ZodType ? streams : (response ?? []);
      const content = {
        ...(response instanceof z.ZodType && {
          "application/json": { schema: schemaOf(response, "output") },
        }),
        ...Object.fromEntries(media.map((type) => [type, { schema: { type: "string" } }])),
      };
      return [status, { description: summary, ...(Object.keys(content).length > 0 && { content }) }];
    }),
  );
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  // What cannot be said in JSON Schema (a refinement, a transformation) is left open rather than refused.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}
