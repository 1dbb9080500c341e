import { randomUUID } from "node:crypto";
import { Conversation } from "../conversation.ts";
import type { Dialect } from "../conversation.ts";
import { startWorker } from "../worker-process.ts";
import { NOTHING_BILLED } from "./server.ts";
import type { BenchServer } from "./server.ts";

interface ChatFrame {
  readonly type: string;
  readonly body?: string;
}

/**
 * The peer's chat protocol: a client posts the whole conversation with each prompt, and gets one frame per part of the
 * AI SDK's message stream.
 */
function chatDialect(messagesUrl: string): Dialect {
  return {
    async prompt(model) {
      const history = (await (await fetch(messagesUrl)).json()) as unknown[];
      const asked = { id: randomUUID(), role: "user", parts: [{ type: "text", text: "go" }] };
      const body = JSON.stringify({ messages: [...history, asked], model });
      const init = { method: "POST", body };
      return JSON.stringify({ type: "cf_agent_use_chat_request", id: randomUUID(), init });
    },
    ends: (frame) => frame.includes('"done":true'),
    deltaText(frame) {
      const { type, body } = JSON.parse(frame) as ChatFrame;
      if (type !== "cf_agent_use_chat_response" || !body) return null;
      const part = JSON.parse(body) as { type: string; delta?: string };
      return part.type === "text-delta" ? (part.delta ?? null) : null;
    },
    // It offers the stream that runs, and replays all of its parts to who accepts.
    reply(frame) {
      if (!frame.includes('"cf_agent_stream_resuming"')) return null;
      const { id } = JSON.parse(frame) as { id: string };
      return JSON.stringify({ type: "cf_agent_stream_resume_ack", id });
    },
    missedText(frame) {
      return this.deltaText(frame);
    },
  };
}

/** AIChatAgent of @cloudflare/ai-chat with the AI SDK's provider for OpenAI-compatible servers. */
export async function startAiChat(modelUrl: string): Promise<BenchServer> {
  const worker = await startWorker("bench/workers/ai-chat.toml", "bench/workers/ai-chat.js", {
    MODEL_URL: modelUrl,
  });
  return {
    name: "ai-chat",
    processId: worker.processId,
    async open() {
      const name = randomUUID();
      const url = `${worker.url}/agents/chat/${name}`;
      const dialect = chatDialect(`${url}/get-messages`);
      return {
        conversation: await Conversation.open(url, dialect),
        join: () => Conversation.open(url, dialect),
        dialect,
        billed: () => worker.billed("Chat", name),
        billedElsewhere: async () => NOTHING_BILLED,
      };
    },
    stop: () => worker.stop(),
  };
}
