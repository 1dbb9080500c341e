import { ModelError } from "./model-error.ts";
import type { ModelDelta, ModelProvider, ModelReply, ModelRequest } from "./model-provider.ts";
import { streamOf } from "./stream-of.ts";
import { sumUsage } from "./usage-sum.ts";

type Block = ModelReply["blocks"][number];

/**
 * Calls of one model that together make one reply, since an answer that cannot be used is asked for again. Thoughts
 * are shown as they come; text is held back until somebody knows what it stands for.
 */
export class BufferedCalls {
  #provider: ModelProvider;
  readonly #signal: AbortSignal;
  readonly #maxChars: number;
  readonly #thoughts: Block[] = [];
  #nextBlock = 0;
  /** What all calls so far have used. */
  usage: ModelReply["usage"] = null;

  /** @param maxChars most characters that are held of one call */
  constructor(provider: ModelProvider, signal: AbortSignal, maxChars: number) {
    this.#provider = provider;
    this.#signal = signal;
    this.#maxChars = maxChars;
  }

  /** Further calls go to this model. */
  turnTo(provider: ModelProvider): void {
    this.#provider = provider;
  }

  /**
   * One call. Yields its thoughts, and a sign of life for all that is held back.
   * @returns the reply as the model gave it, with its own block numbers
   * @throws ModelError as the provider does, or `malformed_stream` for a reply that is too long to hold
   */
  async *call(
    request: ModelRequest,
  ): AsyncGenerator<ModelDelta | { type: "alive"; begun?: true }, ModelReply> {
    const numbers = new Map<number, number>();
    let held = 0;
    for await (const item of streamOf(this.#provider, request, this.#signal)) {
      if (item.type === "alive") yield item;
      else if (item.type === "reply") {
        this.#keep(item.reply, numbers);
        return item.reply;
      } else {
        held += item.text.length;
        if (held > this.#maxChars) throw tooLong();
        if (item.kind === "thought") yield { ...item, block: this.#numberOf(item.block, numbers) };
        else yield { type: "alive", begun: true };
      }
    }
    throw new ModelError("incomplete_stream", "The model's stream ended without a reply.");
  }

  /** The reply that all calls together come to: their thoughts, this text, these calls. */
  reply(text: string, last: ModelReply, rest: Partial<ModelReply>): ModelReply {
    const block = this.#nextBlock;
    const ended = text === "" ? [] : [{ kind: "text" as const, block, text }];
    return { ...last, ...rest, blocks: [...this.#thoughts, ...ended], usage: this.usage };
  }

  /** The delta that shows the text of `reply`. */
  shown(text: string): ModelDelta[] {
    return text === "" ? [] : [{ type: "delta", kind: "text", block: this.#nextBlock, text }];
  }

  #keep(reply: ModelReply, numbers: Map<number, number>): void {
    this.usage = sumUsage(this.usage, reply.usage);
    const thoughts = reply.blocks.filter(({ kind }) => kind === "thought");
    this.#thoughts.push(
      ...thoughts.map((block) => ({ ...block, block: this.#numberOf(block.block, numbers) })),
    );
  }

  #numberOf(block: number, numbers: Map<number, number>): number {
    const known = numbers.get(block);
    if (known !== undefined) return known;
    numbers.set(block, this.#nextBlock);
    return this.#nextBlock++;
  }
}

/** The text of a reply's text blocks. */
export function textOf({ blocks }: ModelReply): string {
  return blocks
    .filter(({ kind }) => kind === "text")
    .map(({ text }) => text)
    .join("");
}

function tooLong(): ModelError {
  return new ModelError("malformed_stream", "The model's reply is longer than allowed.", {
    retryable: false,
  });
}
