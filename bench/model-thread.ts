import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";

/** The fake model server, running in its thread. */
export interface ModelThread {
  /** The base URL of its API. */
  readonly url: string;
  stop(): Promise<unknown>;
}

export async function startModel(): Promise<ModelThread> {
  const worker = new Worker(new URL("model-server.ts", import.meta.url));
  const [address] = (await once(worker, "message")) as [AddressInfo];
  return { url: `http://127.0.0.1:${address.port}/v1`, stop: () => worker.terminate() };
}
