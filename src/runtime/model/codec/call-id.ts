import { sha256Hex } from "../../protocol/sha256.ts";
import type { ReplyCall } from "../model-provider.ts";

/**
 * A call under an id that is the same whenever the same reply is read again. Two replies of a session may be the same
 * word for word: what is stored is numbered by turn and step on top of it.
 * @param raw the reply's whole text
 */
export async function namedCall(
  raw: string,
  position: number,
  call: { readonly id?: string; readonly name: string; readonly args: Readonly<Record<string, unknown>> },
): Promise<ReplyCall> {
  const { id, name, args } = call;
  const digest = await sha256Hex(JSON.stringify([raw, position, name, args]));
  return { providerId: id ?? `call_${digest.slice(0, 16)}`, name, args };
}
