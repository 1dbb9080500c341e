import { CALL_NAMES } from "./call-names.ts";
import type { CallNames } from "./call-names.ts";
import { TypeNames, protocolImports } from "./type-names.ts";
import type { JsonSchema } from "./type-text.ts";

/** What of the API's OpenAPI document the client is made from. */
export interface ApiDescription {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

interface Operation {
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** The text of the client's generated files. */
export interface ClientCalls {
  readonly types: string;
  readonly calls: string;
}

/** One call: its signature, and its row of the table. */
interface Call {
  readonly name: string;
  readonly signature: string;
  readonly row: string;
}

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "application/x-ndjson";
const MADE =
  "// Made from the API's description: after a change, `npx vitest run --project workerd client-calls -u`.\n" +
  "// What calls and types are named stands in scripts/client-calls/call-names.ts.\n";

/**
 * The client's calls and their types.
 * @throws Error for a route that has no name, and for a name that has no route
 */
export function clientCalls({ paths }: ApiDescription): ClientCalls {
  const names = new TypeNames();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const route = `${method.toUpperCase()} ${path}`;
      const given = CALL_NAMES[route];
      if (given === undefined) throw new Error(`No client call for ${route}: name it in CALL_NAMES.`);
      return { route, method: method.toUpperCase(), path, operation, given };
    }),
  );
  const missing = Object.keys(CALL_NAMES).filter((name) => !routes.some(({ route }) => route === name));
  if (missing.length > 0) throw new Error(`There is no such route: ${missing.join(", ")}.`);
  for (const { operation, given } of routes) if (given) nameTypes(names, operation, given);
  const calls = routes.flatMap(({ method, path, operation, given }) =>
    given ? callsOf(names, method, path, operation, given) : [],
  );
  const own = names.declarations();
  return { types: typesFile(own), calls: callsFile(calls, own) };
}

function nameTypes(names: TypeNames, operation: Operation, given: CallNames): void {
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  const query = queryOf(operation);
  const answer = answerOf(operation);
  if (given.body && body) names.add(given.body, body, "given");
  if (given.query && query) names.add(given.query, query, "given");
  if (given.item && answer) names.add(given.item, listIn(answer), "answered");
  if (given.answer && answer) names.add(given.answer, itemOf(answer) ?? answer, "answered");
}

function callsOf(
  names: TypeNames,
  method: string,
  path: string,
  operation: Operation,
  given: CallNames,
): Call[] {
  const { summary, parameters, requestBody } = operation;
  const ids = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `${name}: string`);
  const media = Object.keys(requestBody?.content ?? {})[0];
  const body = requestBody?.content[JSON_TYPE]?.schema;
  const optional = requestBody?.required === false ? "?" : "";
  const query = queryOf(operation);
  const parts = [
    ...ids,
    ...(body ? [`body${optional}: ${names.text(body, "given")}`] : media ? ["bytes: Bytes"] : []),
    ...(query ? [`query${query.required?.length ? "" : "?"}: ${names.text(query, "given")}`] : []),
    "options?: CallOptions",
  ];
  const fields = [
    `method: "${method}"`,
    `path: "${path}"`,
    ...(media ? [`body: "${media}"`] : []),
    ...(query ? ["query: true"] : []),
  ];
  return answersOf(names, operation, given).map(({ kind, type }, index) => {
    const name = index === 0 ? given.call : given.stream;
    if (name === undefined) throw new Error(`${method} ${path} has a second answer: name it as \`stream\`.`);
    return {
      name,
      signature: `  /** ${summary} */\n  ${name}(${parts.join(", ")}): Promise<${type}>;\n`,
      row: `  ${name}: { ${[...fields, `answer: "${kind}"`].join(", ")} },\n`,
    };
  });
}

/** The forms in which a route answers when all is well: JSON first, then what streams. */
function answersOf(
  names: TypeNames,
  operation: Operation,
  given: CallNames,
): { kind: string; type: string }[] {
  const json = answerOf(operation);
  const page = json && itemOf(json);
  const others = successes(operation).flatMap((content) =>
    Object.keys(content).filter((type) => type !== JSON_TYPE),
  );
  const answers = [
    ...(page ? [{ kind: "json", type: `Page<${given.answer ?? names.text(page, "answered")}>` }] : []),
    ...(json && !page ? [{ kind: "json", type: given.answer ?? names.text(json, "answered") }] : []),
    ...(others.length > 0
      ? [
          others.includes(EVENTS_TYPE)
            ? { kind: "events", type: "EventStream" }
            : { kind: "bytes", type: "Response" },
        ]
      : []),
  ];
  return answers.length > 0 ? answers : [{ kind: "none", type: "void" }];
}

function successes({ responses }: Operation): Content[] {
  return Object.entries(responses).flatMap(([status, { content }]) =>
    status.startsWith("2") && content ? [content] : [],
  );
}

function answerOf(operation: Operation): JsonSchema | undefined {
  return successes(operation).flatMap((content) => content[JSON_TYPE]?.schema ?? [])[0];
}

/** What a list is a list of; undefined for what is none. */
function itemOf({ properties = {} }: JsonSchema): JsonSchema | undefined {
  const isPage = Object.keys(properties).join() === "data,next";
  return isPage ? properties["data"]?.items : undefined;
}

/** The items of the first list in an answer. @throws Error when it has none */
function listIn({ properties = {} }: JsonSchema): JsonSchema {
  const item = Object.values(properties).flatMap(({ items }) => items ?? [])[0];
  if (!item) throw new Error("An answer without a list has no items to name.");
  return item;
}

/** The query's fields as one object; undefined when there are none. */
function queryOf({ parameters }: Operation): JsonSchema | undefined {
  const fields = parameters.filter((parameter) => parameter.in === "query");
  if (fields.length === 0) return undefined;
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

const PAGE = `/** A part of a list; \`next\` is the cursor of the part that follows, null at the end. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next: string | null;
}`;

function typesFile(own: readonly string[]): string {
  const text = own.join("\n\n");
  return `${MADE}${protocolImports(text).join("\n")}\n\n${PAGE}\n\n${text}\n`;
}

function callsFile(calls: readonly Call[], own: readonly string[]): string {
  const signatures = calls.map(({ signature }) => signature).join("");
  const code = signatures.replaceAll(/\/\*\*.*?\*\//g, "");
  const names = own.flatMap((text) => /^export \w+ (\w+)/.exec(text)?.[1] ?? []);
  const used = ["Page", ...names].filter((name) => new RegExp(`\\b${name}\\b`).test(code)).toSorted();
  return [
    `${MADE}${protocolImports(code).join("\n")}`,
    'import type { EventStream } from "./event-stream.ts";',
    'import type { Bytes, CallOptions, RestCall } from "./rest-call.ts";',
    `import type { ${used.join(", ")} } from "./rest-types.ts";`,
    "",
    "/** Every call of the API: ids in the order of the path, then the body, the query and options, as far as it has them. */",
    `export interface RestCalls {\n${signatures}}`,
    "",
    "/** How each call is made. */",
    "export const REST_CALLS: Readonly<Record<keyof RestCalls, RestCall>> = {",
    `${calls.map(({ row }) => row).join("")}};`,
    "",
  ].join("\n");
}
