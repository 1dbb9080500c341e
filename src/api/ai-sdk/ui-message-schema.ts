import * as z from "zod";

/** A message in the AI SDK's form (`UIMessage`), of whatever parts. */
export const uiMessageSchema = z.looseObject({
  id: z.string().min(1).max(1_000),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() })),
});
export type UiMessage = z.output<typeof uiMessageSchema>;
