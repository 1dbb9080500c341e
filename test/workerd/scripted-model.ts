import type { RecordedRequest, ScriptedReply } from "./outside-world.ts";

const HOST = "http://model.test";

/** Begins a script for this model name, which each test chooses for itself. */
export async function scriptModel(model: string, replies: readonly ScriptedReply[]): Promise<void> {
  const response = await fetch(`${HOST}/scripts/${model}`, { method: "PUT", body: JSON.stringify(replies) });
  await response.body?.cancel();
}

/** The requests that the scripted model has had so far. */
export async function modelRequests(model: string): Promise<RecordedRequest[]> {
  const response = await fetch(`${HOST}/scripts/${model}`);
  return response.json();
}
