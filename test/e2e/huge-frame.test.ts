import { once } from "node:events";
import { get } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ProductProcess } from "./product-process.ts";

const MIB = 1024 * 1024;
let product: ProductProcess;

beforeAll(async () => {
  product = new ProductProcess();
  await product.start();
});

afterAll(async () => product.stop());

/** A WebSocket as bare bytes after the upgrade: a client library waits for long before it tells of a close. */
async function upgraded(session: string): Promise<Socket> {
  const request = get(`${product.url}/v1/sessions/${session}/ws?after=0`, {
    headers: {
      authorization: `Bearer ${product.key}`,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.alloc(16).toString("base64"),
    },
  });
  const [, socket] = (await once(request, "upgrade")) as [unknown, Socket];
  return socket;
}

/** The head of a masked text frame of RFC 6455, section 5.2. */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return head;
}

/** The code of the close frame in what a socket receives. Text of the product never holds its first byte. */
async function closeCode(socket: Socket): Promise<number> {
  let received = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    const at = received.indexOf(0x88);
    if (at !== -1 && received.length >= at + 4) return received.readUInt16BE(at + 2);
  }
  throw new Error("The socket ended without a close frame.");
}

it("[WIRE-40] a frame that is larger than the platform takes closes its socket with 1009, and nothing else", async () => {
  await product.call("POST", "/v1/sessions", { id: "huge-frame" });
  const socket = await upgraded("huge-frame");
  socket.on("error", () => undefined);
  socket.write(frameHead(33 * MIB));
  socket.write(Buffer.alloc(MIB));
  expect(await closeCode(socket)).toBe(1009);
  socket.destroy();
  const { status } = await product.call<{ status: string }>("POST", "/v1/sessions/huge-frame/prompt", {
    text: "small",
  });
  expect(status).toBe("running");
});
