import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AIChatAgent } from "@cloudflare/ai-chat";
import { routeAgentRequest } from "agents";
import { convertToModelMessages, stepCountIs, streamText, tool } from "ai";
import * as z from "zod";
import { billed, tellingBilled } from "./billed.js";

const instant = tool({
  description: "Answers.",
  inputSchema: z.object({ path: z.string() }),
  execute: async () => "ok",
});

/** The peer as its README has it, with a tool. */
class Peer extends AIChatAgent {
  async onChatMessage(_onFinish, { body, abortSignal }) {
    const provider = createOpenAICompatible({ name: "fake", baseURL: this.env.MODEL_URL });
    const result = streamText({
      model: provider.chatModel(body.model),
      messages: await convertToModelMessages(this.messages),
      tools: { instant },
      stopWhen: stepCountIs(50),
      abortSignal,
    });
    return result.toUIMessageStreamResponse();
  }
}

export class Chat extends billed(Peer) {}

const worker = {
  async fetch(request, env) {
    return (await routeAgentRequest(request, env)) ?? new Response(null, { status: 404 });
  },
};

export default tellingBilled(worker);
