import * as z from "zod";
import { canonicalPath } from "../runtime/workspace/canonical-path.ts";
import { branchField } from "./files.ts";
import { forward } from "./forward.ts";
import { tenantObject, workspaceObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route, TenantContext } from "./route.ts";
import { unwrap } from "../runtime/protocol/answer.ts";

const PATH = "/v1/workspaces/:workspace/archive";

/** Whole folders as tar archives, in either direction. */
export const workspaceArchiveRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "none" },
    {
      method: "GET",
      path: PATH,
      summary: "A tar of a branch, or of the folder at `path`, by names below it.",
      query: z.strictObject({ ...branchField, path: z.string().exactOptional() }),
      responses: { 200: ["application/x-tar"] },
      async handle(context) {
        const { path } = context.query;
        return toObject(context, { ...context.query, ...(path ? { path: canonicalPath(path) } : {}) });
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "PUT",
      path: PATH,
      summary:
        "Puts the files of a tar into a branch, as one version; files that it does not name stay, and the same archive " +
        "again changes nothing. Links and devices " +
        "are refused, and then nothing changes.",
      query: z.strictObject(branchField),
      upload: "application/x-tar",
      responses: { 200: z.object({ version: z.int(), files: z.int(), changed: z.int() }) },
      async handle(context) {
        const { environment, caller, act, params } = context;
        const response = await toObject(context, context.query);
        const target = `workspace:${params.workspace}`;
        if (response.ok)
          unwrap(await tenantObject(environment, caller.tenant).record("workspace.import", target, act));
        return response;
      },
    },
  ),
];

/** The Workspace object answers: the archive streams through here. */
async function toObject(
  {
    environment,
    request,
    caller,
    params,
  }: TenantContext & { readonly params: { readonly workspace: string } },
  query: Readonly<Record<string, string>>,
): Promise<Response> {
  const object = workspaceObject(environment, caller.tenant, params.workspace);
  const fields = new URLSearchParams(query).toString();
  return forward(object, caller, `https://workspace/archive?${fields}`, {
    method: request.method,
    body: request.body,
    signal: request.signal,
  });
}
