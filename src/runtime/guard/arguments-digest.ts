import { digestOf } from "./digest.ts";

/**
 * What an approval binds to beside the call: SHA-256 in lower-case hex of the arguments' canonical JSON. Equal arguments
 * have equal digests, in whatever order a model or a person writes their names.
 */
export function argumentsDigest(args: Readonly<Record<string, unknown>>): Promise<string> {
  return digestOf(args);
}
