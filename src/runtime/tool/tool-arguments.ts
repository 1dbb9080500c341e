import type * as z from "zod";
import { cutText } from "../protocol/content.ts";
import type { ToolResult } from "./tool.ts";

/** A model can act on the first few; a thousand of them would only fill its context. */
const ISSUES_SHOWN = 20;
const ISSUE_LENGTH = 300;

export type CheckedArguments<Schema extends z.ZodObject> =
  | { readonly ok: true; readonly args: z.infer<Schema> }
  | { readonly ok: false; readonly result: ToolResult };

/** The arguments as the tool's schema makes them, or the result that tells the model what is wrong. Never throws. */
export async function checkArguments<Schema extends z.ZodObject>(
  name: string,
  schema: Schema,
  args: unknown,
): Promise<CheckedArguments<Schema>> {
  try {
    const parsed = await schema.safeParseAsync(args);
    if (parsed.success) return { ok: true, args: parsed.data };
    return { ok: false, result: refusal(name, parsed.error.issues) };
  } catch {
    // A check of the tool's own threw: on what it did not expect, so the arguments are not what it wants.
    return { ok: false, result: refusal(name, [{ path: [], message: "The arguments cannot be checked." }]) };
  }
}

/** The same at once, for schemas without asynchronous checks: what is wrong, or null. Never throws. */
export function checkNow(name: string, schema: z.ZodObject, args: unknown): string | null {
  try {
    const parsed = schema.safeParse(args);
    return parsed.success ? null : refusal(name, parsed.error.issues).content;
  } catch {
    return refusal(name, [{ path: [], message: "The arguments cannot be checked." }]).content;
  }
}

function refusal(name: string, issues: readonly Pick<z.core.$ZodIssue, "path" | "message">[]): ToolResult {
  const shown = issues.slice(0, ISSUES_SHOWN).map(({ path, message }) => {
    const where = path.length === 0 ? "<root>" : path.map(String).join(".");
    return `- ${cutText(`${where}: ${message}`, ISSUE_LENGTH)}`;
  });
  const left = issues.length - shown.length;
  const content = [
    "[what] The arguments do not fit the tool's schema; the tool did not run.",
    `[tool] ${name}`,
    "[issues]",
    ...shown,
    ...(left > 0 ? [`- and ${left} more`] : []),
    "[how] Call the tool again with arguments that fit its schema.",
  ].join("\n");
  return { content, isError: true, code: "invalid_arguments" };
}
