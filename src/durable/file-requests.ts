import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { Principal } from "../runtime/protocol/principal.ts";
import { requireCanonical, requireCanonicalFolder } from "../runtime/workspace/canonical-path.ts";
import type { ContentRef } from "../runtime/workspace/change-plan.ts";
import type { FileEntry } from "../runtime/workspace/workspace.ts";
import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import type { BranchReader } from "./branch-reader.ts";
import type { BranchView } from "./branch-view.ts";
import type { BranchWriter, Commit } from "./branch-writer.ts";
import { byteRangeOf } from "./byte-range.ts";
import { conditionsOf, ifMatchHolds, ifNoneMatchHolds } from "./entity-tags.ts";
import type { Conditions } from "./entity-tags.ts";
import { errorResponse } from "./error-response.ts";
import type { FileContents } from "./file-contents.ts";
import type { ByteRange } from "./object-storage.ts";

const LIST_DEPTH = 1;
const LIST_LIMIT = 1_000;
const LIST_LIMIT_MAX = 10_000;

/** The bytes of files over HTTP: a file's ETag is the SHA-256 of its content. */
export class FileRequests {
  readonly #reader: BranchReader;
  readonly #writer: BranchWriter;
  readonly #contents: FileContents;
  readonly #limits: Limits;

  constructor(parts: { reader: BranchReader; writer: BranchWriter; contents: FileContents; limits: Limits }) {
    this.#reader = parts.reader;
    this.#writer = parts.writer;
    this.#contents = parts.contents;
    this.#limits = parts.limits;
  }

  async respond(request: Request, by: Principal): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const branch = searchParams.get("branch") ?? MAIN_BRANCH;
    const path = searchParams.get("path") ?? "";
    switch (request.method) {
      case "GET":
      case "HEAD":
        return this.#read(request, branch, path, searchParams);
      case "PUT":
        return this.#put(request, branch, path, by);
      case "DELETE":
        return this.#delete(request, branch, path, by);
      default:
        throw new LightAgentError("method_not_allowed", "Files have GET, HEAD, PUT and DELETE.", {
          allow: ["GET", "HEAD", "PUT", "DELETE"],
        });
    }
  }

  async #read(request: Request, branch: string, path: string, query: URLSearchParams): Promise<Response> {
    requireCanonicalFolder(path);
    const view = this.#reader.view({ branch });
    if (view.isDirectory(path)) {
      const options = {
        depth: numberOf(query, "depth", LIST_DEPTH),
        limit: Math.min(numberOf(query, "limit", LIST_LIMIT), LIST_LIMIT_MAX),
      };
      return Response.json(await this.#reader.list({ branch }, path, options));
    }
    const entry = view.requireFile(path);
    const conditions = conditionsOf(request.headers);
    if (!ifMatchHolds(conditions, entry.sha256)) throw preconditionFailed();
    if (!ifNoneMatchHolds(conditions, entry.sha256)) {
      return new Response(null, { status: 304, headers: headersOf(entry) });
    }
    return this.#content(request, entry);
  }

  async #content(request: Request, entry: FileEntry): Promise<Response> {
    const headers = headersOf(entry);
    const { size } = entry;
    const range = byteRangeOf(rangeHeader(request, entry), size);
    if (range === "unsatisfiable") {
      const error = { code: "range_not_satisfiable", message: "The range lies outside the file." } as const;
      return errorResponse(error, { "content-range": `bytes */${size}` });
    }
    const span = range === "all" ? { offset: 0, length: size } : range;
    headers.set("content-length", String(span.length));
    if (range !== "all") {
      headers.set("content-range", `bytes ${span.offset}-${span.offset + span.length - 1}/${size}`);
    }
    const status = range === "all" ? 200 : 206;
    if (request.method === "HEAD") return new Response(null, { status, headers });
    return new Response(await this.#body(entry, span), { status, headers });
  }

  async #body({ sha256 }: FileEntry, span: ByteRange): Promise<ReadableStream<Uint8Array> | Uint8Array> {
    if (span.length === 0) return new Uint8Array(0);
    const stream = await this.#contents.stream(sha256, span);
    // The length goes into the response only if the stream itself knows it.
    return stream.pipeThrough(new FixedLengthStream(span.length));
  }

  async #put(request: Request, branch: string, path: string, by: Principal): Promise<Response> {
    const length = lengthOf(request.headers);
    const conditions = conditionsOf(request.headers);
    const { fileBytes } = this.#limits;
    requireCanonical(path);
    let created = false;
    const condition = (view: BranchView): void => {
      const current = view.file(path)?.sha256 ?? null;
      requireConditions(conditions, current);
      created = current === null;
    };
    const commitOf = (content: ContentRef): Commit => ({
      branch,
      writer: { by },
      condition,
      changes: [{ kind: "write", path, sha256: content.sha256, size: content.size }],
    });
    // What can be refused before the bytes move is. The hash is not known yet, and plays no part in that.
    this.#writer.check(commitOf({ sha256: "", size: Math.min(length ?? 0, fileBytes) }));
    const stored = await this.#contents.receive(request.body, { length, maxBytes: fileBytes });
    const { version } = await this.#writer.commit(commitOf(stored.blob), [stored]);
    const entry = this.#reader.view({ branch, version }).requireFile(path);
    return Response.json(entry, { status: created ? 201 : 200, headers: { etag: etagOf(entry) } });
  }

  async #delete(request: Request, branch: string, path: string, by: Principal): Promise<Response> {
    const conditions = conditionsOf(request.headers);
    requireCanonical(path);
    const condition = (view: BranchView): void => {
      view.requireSomething(path);
      requireConditions(conditions, view.file(path)?.sha256 ?? null);
    };
    const changes = [{ kind: "delete", path } as const];
    return Response.json(await this.#writer.commit({ branch, writer: { by }, changes, condition }, []));
  }
}

function requireConditions(conditions: Conditions, current: string | null): void {
  if (!ifMatchHolds(conditions, current) || !ifNoneMatchHolds(conditions, current))
    throw preconditionFailed();
}

function preconditionFailed(): LightAgentError {
  return new LightAgentError("precondition_failed", "The file is not what If-Match or If-None-Match says.");
}

function etagOf({ sha256 }: FileEntry): string {
  return `"${sha256}"`;
}

function headersOf(entry: FileEntry): Headers {
  return new Headers({
    etag: etagOf(entry),
    "accept-ranges": "bytes",
    "last-modified": new Date(entry.modifiedAt).toUTCString(),
    // Never a type that a browser runs: files come from users and models.
    "content-type": "application/octet-stream",
    "content-disposition": "attachment",
  });
}

/** The Range header, unless If-Range says that the caller holds a part of another content. */
function rangeHeader({ headers }: Request, entry: FileEntry): string | null {
  const ifRange = headers.get("if-range");
  return ifRange === null || ifRange === etagOf(entry) ? headers.get("range") : null;
}

function lengthOf(headers: Headers): number | null {
  const length = headers.get("content-length");
  return length !== null && /^\d+$/.test(length) ? Number(length) : null;
}

function numberOf(query: URLSearchParams, name: string, fallback: number): number {
  const value = query.get(name);
  if (value === null) return fallback;
  return /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
}
