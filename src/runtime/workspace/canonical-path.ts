import { LightAgentError } from "../protocol/errors.ts";

/**
 * Bytes of UTF-8 of a whole path: what a storage key may have (1,024), less the longest prefix
 * `t/<tenant>/w/<workspace>/`.
 */
export const PATH_BYTES = 1024 - "t//w//".length - 2 * 64;

/** Bytes of UTF-8 of one name between slashes, as file systems have it. */
export const SEGMENT_BYTES = 255;

const FAULTS = {
  absolute: "it begins with a slash",
  backslash: "it contains a backslash",
  bidi_control: "it contains a character that reverses the direction of text",
  control_character: "it contains a control character",
  dot_segment: "it has a part `.` or `..`",
  empty: "it is empty, or names the root",
  empty_segment: "it has an empty part (`//`, or a slash at the end)",
  encoded: "it still contains %2e, %2f or %5c",
  lone_surrogate: "it contains half of a character",
  not_normalized: "it is not in Unicode normalization form C",
  segment_too_long: `one part is longer than ${SEGMENT_BYTES} bytes`,
  too_long: `it is longer than ${PATH_BYTES} bytes`,
} as const;

/** Why a path is not canonical; `details.reason` of the error. */
export type PathFault = keyof typeof FAULTS;

const encoder = new TextEncoder();

/**
 * The one spelling of a file's path that HTTP takes and the manifest holds: relative to the workspace's root, `/`
 * between the parts, NFC, case-sensitive. Storage takes any bytes as a key, so all safety of paths is here. Expects a
 * path that has been URL-decoded once.
 * @throws LightAgentError `invalid_path` with the {@link PathFault}
 */
export function canonicalPath(path: string): string {
  const normalized = path.normalize("NFC");
  const fault = faultOf(path, normalized);
  if (fault) throw invalidPath(fault);
  return normalized;
}

/** Asserts that a path is canonical already. @throws LightAgentError `invalid_path` */
export function requireCanonical(path: string): void {
  if (canonicalPath(path) !== path) throw invalidPath("not_normalized");
}

/** As {@link requireCanonical}, for what may also be the root, `""`. */
export function requireCanonicalFolder(path: string): void {
  if (path !== "") requireCanonical(path);
}

function faultOf(path: string, normalized: string): PathFault | undefined {
  if (path === "") return "empty";
  if (!path.isWellFormed()) return "lone_surrogate";
  if (/\p{Cc}/u.test(path)) return "control_character";
  if (/\p{Bidi_Control}/u.test(path)) return "bidi_control";
  if (normalized.includes("\\")) return "backslash";
  if (/%(?:2e|2f|5c)/i.test(normalized)) return "encoded";
  if (normalized.startsWith("/")) return "absolute";
  // Before the work of splitting: what is far too long need not be looked at closer.
  if (byteLength(normalized) > PATH_BYTES) return "too_long";
  for (const segment of normalized.split("/")) {
    if (segment === "") return "empty_segment";
    if (segment === "." || segment === "..") return "dot_segment";
    if (byteLength(segment) > SEGMENT_BYTES) return "segment_too_long";
  }
  return undefined;
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

function invalidPath(reason: PathFault): LightAgentError {
  return new LightAgentError("invalid_path", `The path is not valid: ${FAULTS[reason]}.`, { reason });
}
