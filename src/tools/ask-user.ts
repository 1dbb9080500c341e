import * as z from "zod";
import { defineTool } from "../runtime/tool/tool.ts";

/** A question to whoever watches the session. The turn waits for the answer, through restarts and for weeks. */
export function createAskUserTool() {
  return defineTool({
    name: "ask_user",
    description:
      "Asks the user a question and waits for the answer. Use it when you cannot go on without a decision that is the user's; do not ask for what you can find out.",
    schema: z.object({
      question: z.string().min(1).max(4_000).describe("The question, complete in itself."),
      options: z
        .array(z.string().min(1).max(500))
        .min(2)
        .max(20)
        .optional()
        .describe("Answers to choose from."),
      multiSelect: z.boolean().optional().describe("Whether several options may be chosen."),
    }),
    asksPerson: true,
    // The loop asks and answers by itself; see Tool.asksPerson.
    execute: () => ({ content: "A question is answered by a person.", isError: true, code: "unanswered" }),
  });
}
