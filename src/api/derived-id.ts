import { idSchema } from "../runtime/protocol/ids.ts";
import { sha256Hex } from "../runtime/protocol/sha256.ts";

/** An id of another protocol as one of ours: itself where it has the form, else always the same one in its place. */
export async function derivedId(id: string): Promise<string> {
  return idSchema.safeParse(id).success ? id : (await sha256Hex(id)).slice(0, 40);
}
