import { textContent } from "../../protocol/content.ts";
import { DEFAULT_LIMITS } from "../../protocol/limits.ts";
import type { Limits } from "../../protocol/limits.ts";
import { BufferedCalls, textOf } from "../buffered-call.ts";
import { assistantText } from "../codec/encoded-history.ts";
import { ModelError, isModelError } from "../model-error.ts";
import type {
  ModelProvider,
  ModelReply,
  ModelRequest,
  ModelStream,
  OutputFormat,
} from "../model-provider.ts";
import type { OutputSchema } from "./output-schema.ts";

export interface OutputOptions {
  /** Who is asked to repair an answer. @default the model itself */
  readonly repairModel?: ModelProvider;
  /** @default the product's limits */
  readonly limits?: Pick<Limits, "repairCalls" | "replyChars">;
}

/** Most characters of an answer that the model sees again. */
const REPEATED_CHARS = 32_768;

/**
 * A model whose answers are JSON that fits a schema: replies without calls are held back, checked, and asked for again
 * `repairCalls` times; what that uses is in the reply's usage. An answer is shown as its JSON alone.
 */
export function withOutput(
  provider: ModelProvider,
  output: OutputSchema,
  { repairModel = provider, limits = DEFAULT_LIMITS }: OutputOptions = {},
): ModelProvider {
  // What the server has refused once is not sent to it again.
  const formats: OutputFormat["mode"][] = ["json_schema", "json_object"];
  return {
    id: provider.id,
    async *stream(request, signal): ModelStream {
      const calls = new BufferedCalls(provider, signal, limits.replyChars);
      const base = { ...request, system: `${request.system}\n\n${instructions(output)}`.trim() };
      const diagnostics: { code: string; message: string }[] = [];
      let ask: ModelRequest = base;
      for (let repaired = 0; ; repaired++) {
        const reply = yield* formatted(calls, ask, output, formats);
        diagnostics.push(...(reply.diagnostics ?? []));
        const told = diagnostics.length > 0 ? { diagnostics } : {};
        const given = textOf(reply);
        // A reply that was cut or withheld is the loop's affair, like one that calls tools.
        if (reply.calls.length > 0 || reply.finishReason !== "stop") {
          yield* calls.shown(given);
          yield { type: "reply", reply: calls.reply(given, reply, told) };
          return;
        }
        const reading = output.read(given);
        if (reading.ok) {
          const text = JSON.stringify(reading.value);
          yield* calls.shown(text);
          yield { type: "reply", reply: calls.reply(text, reply, { structured: true, ...told }) };
          return;
        }
        if (repaired >= limits.repairCalls) {
          const message = "The model's answer does not fit the output schema.";
          throw new ModelError("invalid_output", message);
        }
        diagnostics.push({ code: "output_repaired", message: "An answer did not fit the output schema." });
        ask = { ...base, messages: [...base.messages, ...repairMessages(given, reading.issues)] };
        calls.turnTo(repairModel);
      }
    },
  };
}

/** A call in the strictest format that the server takes. Beside tools none is asked for: some servers then call none. */
async function* formatted(
  calls: BufferedCalls,
  request: ModelRequest,
  { schema }: OutputSchema,
  formats: OutputFormat["mode"][],
): AsyncGenerator<Exclude<YieldedBy<ModelStream>, { type: "reply" }>, ModelReply> {
  for (;;) {
    const mode = request.tools.length === 0 ? formats[0] : undefined;
    try {
      return yield* calls.call(mode === undefined ? request : { ...request, output: { mode, schema } });
    } catch (caught) {
      const refused = isModelError(caught) && caught.modelCode === "model_rejected";
      if (mode === undefined || !refused) throw caught;
      formats.shift();
    }
  }
}

type YieldedBy<Stream> = Stream extends AsyncIterable<infer Item> ? Item : never;

function instructions({ schema }: OutputSchema): string {
  return `Your final answer is JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
}

function repairMessages(given: string, issues: readonly string[]): ModelRequest["messages"] {
  const prompt = `Your answer does not fit the JSON Schema:\n${issues.map((issue) => `- ${issue}`).join("\n")}\nAnswer again, with the corrected JSON and nothing else.`;
  const said = given === "" ? [] : [assistantText(given.slice(0, REPEATED_CHARS))];
  return [...said, { role: "user", content: textContent(prompt) }];
}
