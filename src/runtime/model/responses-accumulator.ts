import type { ReplyBlock } from "../protocol/model-messages.ts";
import type { Usage } from "../protocol/usage.ts";
import { exceedsBytes } from "./call-arguments.ts";
import { readErrorObject } from "./failure.ts";
import { endingOf } from "./finish-reason.ts";
import { isObject, stringOr } from "./json-value.ts";
import type { JsonObject } from "./json-value.ts";
import { ModelError } from "./model-error.ts";
import type { FinishReason, ModelDelta, ModelReply } from "./model-provider.ts";
import { emptyReply } from "./reply-accumulator.ts";
import { keepItem } from "./responses-wire.ts";
import { classifyFailure } from "./stream-errors.ts";
import { ToolCallSlots } from "./tool-call-slots.ts";
import { tokenCount } from "./token-count.ts";

export interface ResponsesAccumulatorOptions {
  /** Most bytes of one call's arguments, and of one item that is kept to go back. */
  readonly argumentBytes: number;
  /** The model that is asked. */
  readonly model: string;
  /** Ids of the calls in the request: some servers send them again as if they were new. */
  readonly knownCalls: ReadonlySet<string>;
}

/** One output item as it grows. */
interface Item {
  readonly index: number;
  readonly kind: "text" | "thought" | "call" | "other";
  block: (ReplyBlock & { readonly block: number }) | null;
  /** Calls that came before it. */
  readonly calls: number;
  /** Reasoning comes as summaries or as it is; where it comes as both, the first stands. */
  source: string;
  hasArguments: boolean;
  done: boolean;
}

/** How the response ended. */
interface Ending {
  readonly reason: FinishReason;
  readonly usage: Usage | null;
}

/**
 * Makes a reply from the events of one Responses stream. Each message and each reasoning item is a block of its own,
 * each call too. An item that has ended does not change any more, and one that comes twice counts once.
 */
export class ResponsesAccumulator {
  readonly #options: ResponsesAccumulatorOptions;
  readonly #slots: ToolCallSlots;
  readonly #items = new Map<number, Item>();
  readonly #callIds = new Set<string>();
  readonly #diagnostics: { code: string; message: string }[] = [];
  #nextBlock = 0;
  #calls = 0;
  #events = 0;
  #ending: Ending | null = null;

  constructor(options: ResponsesAccumulatorOptions) {
    this.#options = options;
    this.#slots = new ToolCallSlots(options.argumentBytes, () => this.#nextBlock++);
  }

  /**
   * Takes one raw event in and returns what it adds.
   * @throws ModelError when the event says that the response failed
   */
  push(raw: unknown): ModelDelta[] {
    this.#events++;
    const event = isObject(raw) ? raw : {};
    const index = typeof event["output_index"] === "number" ? event["output_index"] : 0;
    switch (event["type"]) {
      case "response.output_item.added":
        this.#open(index, event["item"]);
        return [];
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#addText(this.#itemAt(index, "text"), stringOr(event["delta"]), "text");
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#addText(this.#itemAt(index, "thought"), stringOr(event["delta"]), event["type"]);
      case "response.function_call_arguments.delta":
        return this.#addArguments(index, stringOr(event["delta"]));
      case "response.output_item.done":
        return this.#close(index, event["item"]);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#end(event["response"]);
      case "error":
        throw classifyFailure(readErrorObject(event));
      default:
        return [];
    }
  }

  /** @throws ModelError `incomplete_stream`, `malformed_stream`, `empty_reply` or `content_filter` */
  finish(): ModelReply {
    if (this.#events === 0) {
      throw new ModelError("malformed_stream", "The provider answered without a single piece of a reply.");
    }
    const ending = this.#ending;
    if (!ending) throw new ModelError("incomplete_stream", "The stream ended before the response did.");
    const { calls, diagnostics } = this.#slots.finish(true);
    const items = [...this.#items.values()].flatMap(({ block }) => (block ? [block] : []));
    const blocks = items.filter(({ text, providerData }) => text !== "" || providerData !== undefined);
    const hasText = blocks.some(({ kind, text }) => kind === "text" && text !== "");
    if (!hasText && calls.length === 0) throw emptyReply(ending.reason);
    const told = [...this.#diagnostics, ...diagnostics];
    const { reason, usage } = ending;
    return {
      blocks: blocks.toSorted((left, right) => left.block - right.block),
      calls,
      finishReason: reason === "stop" && calls.length > 0 ? "tool_calls" : reason,
      usage,
      ...(told.length > 0 ? { diagnostics: told } : {}),
    };
  }

  #open(index: number, raw: unknown): Item {
    const known = this.#items.get(index);
    if (known) return known;
    const item = isObject(raw) ? raw : {};
    const opened = this.#newItem(index, this.#kindOf(item));
    if (opened.kind === "call") this.#slots.push(callDelta(index, item, ""));
    return opened;
  }

  #newItem(index: number, kind: Item["kind"]): Item {
    const item: Item = {
      index,
      kind,
      block: null,
      calls: this.#calls,
      source: "",
      hasArguments: false,
      done: false,
    };
    if (kind === "call") this.#calls++;
    // Numbered when it begins, though its text may come late or never.
    if (kind === "thought") item.block = { kind, block: this.#nextBlock++, text: "" };
    this.#items.set(index, item);
    return item;
  }

  /** A call whose id has come before, in this reply or an earlier one, is that call again. */
  #kindOf(item: JsonObject): Item["kind"] {
    if (item["type"] === "message") return "text";
    if (item["type"] === "reasoning") return "thought";
    if (item["type"] !== "function_call") return "other";
    const id = stringOr(item["call_id"]);
    if (id === "") return "call";
    if (this.#callIds.has(id) || this.#options.knownCalls.has(id)) {
      const message = "The provider sent a call again that it had made before; it is left out.";
      this.#diagnostics.push({ code: "call_repeated", message });
      return "other";
    }
    this.#callIds.add(id);
    return "call";
  }

  #itemAt(index: number, kind: "text" | "thought"): Item {
    return this.#items.get(index) ?? this.#newItem(index, kind);
  }

  #addText(item: Item, text: string, source: string): ModelDelta[] {
    const { kind } = item;
    if (item.done || text === "" || (kind !== "text" && kind !== "thought")) return [];
    if (item.source === "") item.source = source;
    if (item.source !== source) return [];
    item.block ??= { kind, block: this.#nextBlock++, text: "" };
    item.block.text += text;
    return [{ type: "delta", kind, block: item.block.block, text }];
  }

  #addArguments(index: number, text: string): ModelDelta[] {
    const item = this.#items.get(index);
    if (item?.kind !== "call" || item.done || text === "") return [];
    item.hasArguments = true;
    const delta = this.#slots.push({ index, id: "", name: "", args: text });
    return delta ? [delta] : [];
  }

  /** What is whole now. Its text counts where no delta of it came: some servers send items only as a whole. */
  #close(index: number, raw: unknown): ModelDelta[] {
    const whole = isObject(raw) ? raw : {};
    const item = this.#open(index, whole);
    if (item.done) return [];
    const deltas: ModelDelta[] = [];
    if (item.kind === "text" && item.block === null)
      deltas.push(...this.#addText(item, textIn(whole["content"]), "text"));
    if (item.kind === "thought") {
      if (item.source === "") {
        const text = textIn(whole["summary"]) || textIn(whole["content"]);
        deltas.push(...this.#addText(item, text, "whole"));
      }
      this.#keep(item, whole);
    }
    if (item.kind === "call" && !item.hasArguments) {
      const delta = this.#slots.push(callDelta(index, whole, stringOr(whole["arguments"])));
      if (delta) deltas.push(delta);
    }
    item.done = true;
    return deltas;
  }

  #keep({ block, calls }: Item, item: JsonObject): void {
    if (!block) return;
    if (exceedsBytes(JSON.stringify(item), this.#options.argumentBytes)) {
      const message = "A reasoning item is too large to go back to the model.";
      this.#diagnostics.push({ code: "reasoning_dropped", message });
      return;
    }
    block.providerData = keepItem({ model: this.#options.model, calls, item });
  }

  #end(raw: unknown): ModelDelta[] {
    const response = isObject(raw) ? raw : {};
    if (isObject(response["error"])) throw classifyFailure(readErrorObject(response["error"]));
    if (response["status"] === "failed" || response["status"] === "cancelled") {
      throw new ModelError("model_error", "The provider ended the response with a failure.");
    }
    const output: readonly unknown[] = Array.isArray(response["output"]) ? response["output"] : [];
    const deltas = output.flatMap((item, index) => this.#close(index, item));
    this.#ending = { reason: reasonOf(response), usage: readUsage(response["usage"]) };
    return deltas;
  }
}

function callDelta(index: number, item: JsonObject, args: string) {
  return { index, id: stringOr(item["call_id"]), name: stringOr(item["name"]), args };
}

/** The text of a message's or reasoning item's parts. */
function textIn(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts
    .filter(isObject)
    .map((part) => stringOr(part["text"]) || stringOr(part["refusal"]))
    .join("");
}

function reasonOf({ status, incomplete_details: details }: JsonObject): FinishReason {
  if (status !== "incomplete") return "stop";
  const ending = endingOf(isObject(details) ? stringOr(details["reason"]) : "");
  return ending === "content_filter" ? ending : "length";
}

function readUsage(value: unknown): Usage | null {
  if (!isObject(value) || !Number.isFinite(value["input_tokens"])) return null;
  const input = tokenCount(value["input_tokens"]);
  const output = tokenCount(value["output_tokens"]);
  const inputDetails = isObject(value["input_tokens_details"]) ? value["input_tokens_details"] : {};
  const outputDetails = isObject(value["output_tokens_details"]) ? value["output_tokens_details"] : {};
  return {
    input,
    output,
    cachedInput: Math.min(tokenCount(inputDetails["cached_tokens"]), input),
    reasoning: Math.min(tokenCount(outputDetails["reasoning_tokens"]), output),
  };
}
