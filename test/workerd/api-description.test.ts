import { describe, expect, it } from "vitest";
import { needs } from "../../src/api/openapi.ts";
import type { OpenApiDocument } from "../../src/api/openapi.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { send } from "./api-client.ts";

type Json = Record<string, unknown>;

async function description(): Promise<OpenApiDocument> {
  const response = await send("/openapi.json");
  expect(response.headers.get("content-type")).toContain("application/json");
  return response.json();
}

/** Every `$ref` in a value. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === "$ref" ? [String(part)] : referencesIn(part),
  );
}

describe("the API's description", () => {
  it("[API-40] is OpenAPI 3.1 and holds every route", async () => {
    const { openapi, info, paths } = await description();
    expect(openapi).toBe("3.1.0");
    expect(info).toMatchObject({ title: "light-agent", version: expect.any(String) });
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routes = ROUTES.map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}")}`,
    );
    expect(described.toSorted()).toEqual(routes.toSorted());
  });

  it("[API-40] describes each operation completely, under an id of its own", async () => {
    const document = await description();
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, operation })),
    );
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      expect(operation.summary).toMatch(/\.$/);
      const named = operation.parameters.filter((parameter) => parameter["in"] === "path");
      expect(named.map(({ name }) => `{${String(name)}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(named.every(({ required, schema }) => required === true && typeof schema === "object")).toBe(
        true,
      );
      expect(Object.keys(operation.responses)).toContain("default");
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^([1-3]\d\d|default)$/);
        expect(response["$ref"] ?? response["description"]).toEqual(expect.any(String));
      }
    }
  });

  it("[API-40] refers to nothing that is not in it", async () => {
    const document = await description();
    for (const reference of referencesIn(document)) {
      const target = reference
        .replace(/^#\//, "")
        .split("/")
        .reduce<unknown>((value, name) => (value as Json)[name], document);
      expect(target, reference).toBeDefined();
    }
  });

  it("[API-40] says of a query and a body what the router accepts", async () => {
    const { paths } = await description();
    const events = paths["/v1/sessions/{session}/events"]?.["get"];
    const limit = events?.parameters.find(({ name }) => name === "limit");
    expect(limit).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 5000 },
    });
    const ok = events?.responses["200"] as { content: Json };
    expect(Object.keys(ok.content)).toEqual([
      "application/json",
      "text/event-stream",
      "application/x-ndjson",
    ]);
    const key = paths["/v1/keys"]?.["post"]?.requestBody;
    expect(key).toMatchObject({
      required: true,
      content: {
        "application/json": { schema: { additionalProperties: false, required: ["name", "role"] } },
      },
    });
    const bytes = (path: string): unknown => paths[path]?.["put"]?.requestBody;
    expect(bytes("/v1/workspaces/{workspace}/files/{path}")).toEqual({
      required: true,
      content: { "application/octet-stream": {} },
    });
    expect(bytes("/v1/workspaces/{workspace}/archive")).toEqual({
      required: true,
      content: { "application/x-tar": {} },
    });
    expect(paths["/healthz"]?.["get"]?.security).toEqual([]);
  });

  it("[API-41] is a page for people, too, that loads nothing from elsewhere and runs no script", async () => {
    const response = await send("/docs");
    const page = await response.text();
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const nonce = /style-src 'nonce-([^']+)'/.exec(
      response.headers.get("content-security-policy") ?? "",
    )?.[1];
    expect(page).toContain(`<style nonce="${nonce}">`);
    expect(page).not.toMatch(/<script|https?:\/\/|javascript:|\son\w+=/i);
    for (const { summary } of ROUTES)
      expect(page).toContain(summary.replaceAll("&", "&amp;").replaceAll('"', "&quot;"));
    expect((await (await send("/docs")).text()).includes(String(nonce))).toBe(false);
  });

  it("[API-42] docs/api.md lists the routes as they are", async () => {
    const rows = ROUTES.map(
      ({ method, path, summary, requirement }) =>
        `| \`${method} ${path}\` | ${summary} | ${needs(requirement)} |`,
    );
    const page = [
      "# HTTP API",
      "",
      "Made from the routes in `src/api/`: after a change, `npx vitest run --project workerd api-description -u`.",
      "Bodies, queries and answers in full: `GET /openapi.json`, or `GET /docs` as a page.",
      "",
      "| call | does | needs |",
      "| --- | --- | --- |",
      ...rows,
      "",
    ].join("\n");
    await expect(page).toMatchFileSnapshot("../../docs/api.md");
  });
});
