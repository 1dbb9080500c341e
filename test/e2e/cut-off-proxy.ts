import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";

/** A way to a server that can be cut: one address for the browser, whatever becomes of the server behind it. */
export class CutOffProxy {
  /** The port of the server behind; null refuses every connection. */
  target: number | null = null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => this.#pass(socket));
  }

  static async start(): Promise<CutOffProxy> {
    const proxy = new CutOffProxy();
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Ends all connections and lets no further one through until there is a target again. */
  cut(): void {
    this.target = null;
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #pass(socket: Socket): void {
    if (this.target === null) {
      socket.destroy();
      return;
    }
    const behind = connect(this.target, "127.0.0.1");
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
