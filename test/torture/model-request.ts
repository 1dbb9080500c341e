import * as z from "zod";

const call = z.object({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.object({ name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), arguments: z.string() }),
});

const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), content: z.string().min(1) }),
  z.object({ role: z.literal("user"), content: z.string().min(1) }),
  z.object({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    tool_calls: z.array(call).min(1).optional(),
  }),
  z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: z.string() }),
]);
export type ModelRequestMessage = z.infer<typeof message>;

const requestSchema = z.object({ messages: z.array(message).min(1) });

/** The messages of a request. @throws ZodError when it does not have the form of Chat Completions */
export function messagesOf(body: unknown): ModelRequestMessage[] {
  return requestSchema.parse(body).messages;
}

/** Whatever a strict provider would refuse a request for; an empty list means that it is valid. */
export function problemsOf(messages: readonly ModelRequestMessage[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let owed: string[] = [];
  for (const [index, one] of messages.entries()) {
    if (one.role === "tool") {
      const expected = owed.shift();
      if (one.tool_call_id !== expected)
        problems.push(`result of ${one.tool_call_id} where ${expected} is due`);
      continue;
    }
    if (owed.length > 0) problems.push(`no result of ${owed.join(", ")} before message ${index}`);
    owed = [];
    if (one.role === "system" && index > 0) problems.push(`a system message at ${index}`);
    if (one.role !== "assistant") continue;
    if (!one.content && !one.tool_calls) problems.push(`an empty assistant message at ${index}`);
    for (const { id, function: called } of one.tool_calls ?? []) {
      if (seen.has(id)) problems.push(`call ${id} comes twice`);
      if (!isJsonObject(called.arguments)) problems.push(`arguments of ${id} are no JSON object`);
      seen.add(id);
      owed.push(id);
    }
  }
  if (owed.length > 0) problems.push(`no result of ${owed.join(", ")} at the end`);
  const last = messages.at(-1)?.role;
  if (last !== "user" && last !== "tool") problems.push(`the last message is of ${last}`);
  return problems;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
