import { textOf } from "../../protocol/content.ts";
import type { ModelCall } from "../../protocol/model-messages.ts";
import type { ModelRequest } from "../model-provider.ts";

/** A call that was made for the request at hand, and what came of it. */
export interface DoneCall {
  readonly name: string;
  readonly args: ModelCall["args"];
  readonly content: string;
  readonly isError: boolean;
}

/** What the user asked last, and what has been done about it since. */
export interface Trail {
  readonly asked: string;
  readonly done: readonly DoneCall[];
}

/** Reads the trail out of a request: all that the demo knows. */
export function trailOf(request: ModelRequest): Trail {
  const { messages } = request;
  const last = messages.findLastIndex((message) => message.role === "user");
  const asking = messages[last];
  const since = messages.slice(last + 1);
  const calls = since.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const results = new Map(
    since.flatMap((message) => (message.role === "tool" ? [[message.callId, message]] : [])),
  );
  return {
    asked: asking?.role === "user" ? textOf(asking.content) : "",
    done: calls.flatMap(({ id, name, args }) => {
      const result = results.get(id);
      return result ? [{ name, args, content: result.content, isError: result.isError }] : [];
    }),
  };
}
