import * as z from "zod";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import { branchField } from "./files.ts";
import { workspaceObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";

const globs = z.array(z.string()).max(50).readonly();

const searchBody = z
  .strictObject({
    kind: z.enum(["grep", "glob"]),
    pattern: z.string(),
    path: z.string().exactOptional(),
    include: globs.exactOptional(),
    exclude: globs.exactOptional(),
    hideIgnored: z.boolean().exactOptional(),
    fixed: z.boolean().exactOptional(),
    caseSensitive: z.boolean().exactOptional(),
    word: z.boolean().exactOptional(),
    context: z.int().min(0).max(1_000).exactOptional(),
    limit: z.int().min(1).max(10_000).exactOptional(),
  })
  .readonly();

const lines = z.array(z.string()).readonly();

const searchResult = z.object({
  matches: z
    .array(
      z.object({
        path: z.string(),
        line: z.int(),
        text: z.string(),
        before: lines.exactOptional(),
        after: lines.exactOptional(),
      }),
    )
    .readonly()
    .exactOptional(),
  paths: lines.exactOptional(),
  more: z.boolean(),
  notSearched: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .readonly()
    .exactOptional(),
  notSearchedCount: z.int().exactOptional(),
});

export const workspaceSearchRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "none" },
    {
      method: "POST",
      path: "/v1/workspaces/:workspace/search",
      summary: "Searches the files: lines by an RE2 pattern (`grep`), or paths by a glob.",
      query: z.strictObject(branchField),
      body: searchBody,
      responses: { 200: searchResult },
      async handle({ environment, caller, params, query, body }) {
        const workspace = workspaceObject(environment, caller.tenant, params.workspace);
        const result = await workspace.search(query.branch ?? MAIN_BRANCH, body);
        return { status: 200, body: unwrap(result) };
      },
    },
  ),
];
