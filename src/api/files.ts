import * as z from "zod";
import { LightAgentError } from "../runtime/protocol/errors.ts";
import { idSchema } from "../runtime/protocol/ids.ts";
import { canonicalPath } from "../runtime/workspace/canonical-path.ts";
import { forward, pickHeaders } from "./forward.ts";
import { workspaceObject } from "./objects.ts";
import { tenantRoute } from "./route.ts";
import type { Route, TenantContext } from "./route.ts";
import { wholeNumber } from "./validation.ts";

const PATH = "/v1/workspaces/:workspace/files/*";
const BYTES = ["application/octet-stream"];

const fileEntry = z.object({
  path: z.string(),
  size: z.int(),
  sha256: z.string(),
  version: z.int(),
  modifiedAt: z.number(),
});

const folderListing = z.object({
  entries: z
    .array(
      z.discriminatedUnion("kind", [
        fileEntry.extend({ kind: z.literal("file") }),
        z.object({ kind: z.literal("directory"), path: z.string(), files: z.int() }),
      ]),
    )
    .readonly(),
  omitted: z.int(),
});

export const changedSchema = z.object({ version: z.int(), paths: z.array(z.string()).readonly() });

/** Which branch a request is about; the main one when it names none. */
export const branchField = { branch: idSchema.exactOptional() };
const branchQuery = z.strictObject(branchField);

const readQuery = z.strictObject({
  ...branchField,
  depth: wholeNumber(1, 1_000).exactOptional(),
  limit: wholeNumber(0, 10_000).exactOptional(),
});

export const fileRoutes: readonly Route[] = [
  tenantRoute(
    { role: "viewer", scope: "none" },
    {
      method: "GET",
      path: PATH,
      summary:
        "The bytes of a file, with Range, If-Match and If-None-Match (the ETag is the content's SHA-256); " +
        "of a folder, and of the root at `files/`, a listing as JSON.",
      query: readQuery,
      responses: { 200: folderListing, 206: BYTES, 304: null },
      streams: BYTES,
      async handle(context) {
        // A folder may be written with a slash at its end.
        return toObject(context, pathOf(context).replace(/(?<=.)\/$/, ""), [
          "range",
          "if-range",
          "if-match",
          "if-none-match",
        ]);
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "PUT",
      path: PATH,
      summary:
        "Writes a file: the body is its bytes. 201 when it is new. If-Match and If-None-Match (`*`: only if " +
        "nothing is there) make it a compare-and-set.",
      query: branchQuery,
      upload: "application/octet-stream",
      responses: { 200: fileEntry, 201: fileEntry },
      async handle(context) {
        return toObject(context, pathOf(context), ["content-length", "if-match", "if-none-match"]);
      },
    },
  ),
  tenantRoute(
    { role: "member", scope: "none" },
    {
      method: "DELETE",
      path: PATH,
      summary: "Deletes a file, or a folder with all that is in it. Earlier versions keep it.",
      query: branchQuery,
      responses: { 200: changedSchema },
      async handle(context) {
        return toObject(context, pathOf(context), ["if-match", "if-none-match"]);
      },
    },
  ),
];

/** A request about one path, with the id of its workspace. */
type FileContext = TenantContext & {
  readonly params: { readonly workspace: string };
  readonly query: Readonly<Record<string, string | number>>;
};

/** The Workspace object answers: bytes stream through here, in either direction. */
async function toObject(context: FileContext, path: string, headers: readonly string[]): Promise<Response> {
  const { environment, request, caller, params, query } = context;
  const fields = new URLSearchParams({ path: path === "" ? "" : canonicalPath(path) });
  for (const [name, value] of Object.entries(query)) fields.set(name, String(value));
  const object = workspaceObject(environment, caller.tenant, params.workspace);
  return forward(object, caller, `https://workspace/files?${fields.toString()}`, {
    method: request.method,
    headers: pickHeaders(request, headers),
    body: request.body,
    signal: request.signal,
  });
}

/**
 * The path behind `files/`, decoded once. The URL's parser has taken `.` and `..` away before, so what is left of them
 * was encoded, and is refused like everything that is not canonical.
 * @throws invalid_path
 */
function pathOf({ url }: FileContext): string {
  const [, , , , , ...segments] = url.pathname.split("/");
  try {
    return decodeURIComponent(segments.join("/"));
  } catch {
    throw new LightAgentError("invalid_path", "The path is not UTF-8 in percent-encoding.");
  }
}
