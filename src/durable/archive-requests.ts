import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { requireCanonicalFolder } from "../runtime/workspace/canonical-path.ts";
import { compareCodeUnits } from "../runtime/workspace/path-order.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import { exportArchive } from "./archive-export.ts";
import { ArchiveImport } from "./archive-import.ts";
import type { ArchiveImportParts } from "./archive-import.ts";
import type { BranchReader } from "./branch-reader.ts";
import type { ContentHolds } from "./content-holds.ts";
import { readAway } from "./upload-chunks.ts";

export interface ArchiveParts extends ArchiveImportParts {
  readonly reader: BranchReader;
  readonly holds: ContentHolds;
}

/** Whole folders over HTTP, as tar archives. */
export class ArchiveRequests {
  readonly #parts: ArchiveParts;

  constructor(parts: ArchiveParts) {
    this.#parts = parts;
  }

  async respond(request: Request, by: Principal): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const branch = searchParams.get("branch") ?? MAIN_BRANCH;
    if (request.method === "GET") return this.#export(branch, searchParams.get("path") ?? "");
    if (request.method === "PUT") return this.#import(request, branch, by);
    throw new LightAgentError("method_not_allowed", "An archive has GET and PUT.", { allow: ["GET", "PUT"] });
  }

  async #export(branch: string, folder: string): Promise<Response> {
    requireCanonicalFolder(folder);
    const view = this.#parts.reader.view({ branch });
    if (folder !== "" && view.file(folder)) {
      throw new LightAgentError("invalid_path", "The path is that of a file.", { path: folder });
    }
    view.requireSomething(folder);
    const files = view.files(folder).sort((a, b) => compareCodeUnits(a.path, b.path));
    const from = folder === "" ? 0 : folder.length + 1;
    const body = await exportArchive(files, (path) => path.slice(from), this.#parts);
    const headers = {
      "content-type": "application/x-tar",
      "content-disposition": "attachment",
      "cache-control": "no-store",
    };
    return new Response(body, { headers });
  }

  async #import({ body }: Request, branch: string, by: Principal): Promise<Response> {
    if (!body) throw new LightAgentError("invalid_request", "The body is a tar archive.");
    // What is wrong with the branch is said before the bytes move.
    this.#parts.reader.view({ branch });
    const [archive, rest] = guarded(body, this.#parts.limits.workspaceBytes);
    try {
      const { version, files, paths } = await new ArchiveImport(this.#parts).run(archive, branch, by);
      return Response.json({ version, files, changed: paths.length });
    } finally {
      await rest();
    }
  }
}

/**
 * The body, and how to read away what is left of it: a sender that is still sending would otherwise never see the
 * answer.
 */
function guarded(
  body: ReadableStream<Uint8Array>,
  bytes: number,
): [archive: ReadableStream<Uint8Array>, rest: () => Promise<void>] {
  const reader = body.getReader();
  let ended = false;
  const archive = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        ended = true;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return [archive, async () => (ended ? undefined : readAway(reader, bytes))];
}
