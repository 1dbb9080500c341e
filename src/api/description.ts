import * as z from "zod";
import { docsPage } from "./docs-page.ts";
import { describeApi } from "./openapi.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { publicRoute } from "./route.ts";
import type { Route } from "./route.ts";

/**
 * The routes that describe the API.
 * @param routes What they describe; read when the description is first asked for
 */
export function descriptionRoutes(routes: () => readonly Route[]): readonly Route[] {
  let document: OpenApiDocument | undefined;
  const described = (): OpenApiDocument => (document ??= describeApi(routes()));
  return [
    publicRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This description.",
      responses: { 200: z.record(z.string(), z.unknown()) },
      handle: () => ({ status: 200, body: { ...described() } }),
    }),
    publicRoute({
      method: "GET",
      path: "/docs",
      summary: "This description as a page.",
      responses: { 200: ["text/html"] },
      handle({ newId }) {
        const nonce = newId();
        const policy = `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'`;
        return new Response(docsPage(described(), nonce), {
          headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
        });
      },
    }),
  ];
}
