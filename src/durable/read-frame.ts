import { toErrorBody } from "../runtime/protocol/errors.ts";
import type { ErrorBody, ErrorCode } from "../runtime/protocol/errors.ts";
import { clientFrameSchema } from "../runtime/protocol/frames.ts";
import type { ClientFrame } from "../runtime/protocol/frames.ts";
import { parseJson } from "../runtime/protocol/json.ts";

/** A frame, or why it is none, with its id as far as one can be read. */
export type ReadFrame =
  | { readonly frame: ClientFrame }
  | { readonly id: string | number | null; readonly error: ErrorBody };

/** Reads what a client has sent. A frame may have `maxBytes`; whatever else is wrong with it is said, not thrown. */
export function readFrame(message: string | ArrayBuffer | ArrayBufferView, maxBytes: number): ReadFrame {
  const refuse = (code: ErrorCode, text: string, id: string | number | null = null): ReadFrame => {
    return { id, error: { code, message: text } };
  };
  if (typeof message !== "string") return refuse("invalid_frame", "Frames are JSON text, not binary.");
  // A UTF-16 unit is at most 3 bytes of UTF-8, so only texts in between need counting.
  const mayExceed = message.length * 3 > maxBytes;
  if (mayExceed && new TextEncoder().encode(message).length > maxBytes) {
    return refuse("frame_too_large", `A frame may have ${maxBytes} bytes.`);
  }
  let json: unknown;
  try {
    json = parseJson(message);
  } catch (caught) {
    return refuse("invalid_frame", toErrorBody(caught).message);
  }
  const parsed = clientFrameSchema.safeParse(json);
  if (parsed.success) return { frame: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") ?? "";
  return refuse(
    "invalid_frame",
    `The frame is not valid: ${where || "frame"}: ${issue?.message ?? ""}`,
    idOf(json),
  );
}

/** The id of a frame that is otherwise wrong, so that its sender knows which one was refused. */
function idOf(json: unknown): string | number | null {
  const id = typeof json === "object" && json !== null && "id" in json ? json.id : null;
  return typeof id === "number" || (typeof id === "string" && id.length <= 64) ? id : null;
}

/** The id under which a message is to be answered; null when it has none. */
export function frameIdOf(read: ReadFrame): string | number | null {
  if (!("frame" in read)) return read.id;
  return "id" in read.frame ? read.frame.id : null;
}
