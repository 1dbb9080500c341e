import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { markedProcesses } from "../../scripts/marked-processes.ts";

/** The product as `npm start` runs it, with its state in a folder of its own. */
export class ProductProcess {
  /** The folder of what it persists. */
  readonly state = mkdtempSync(join(tmpdir(), "light-agent-"));
  readonly #environment: Readonly<Record<string, string>>;
  #mark = "";
  #process: ChildProcess | null = null;
  url = "";
  key = "";

  /** @param environment Settings of the product; empty ones count as not set. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", OPENAI_MODEL: "", ...environment };
  }

  /** Starts it, or starts it again on the state that an earlier process left. */
  async start(): Promise<void> {
    this.#mark = randomUUID();
    const path = [join(process.cwd(), "node_modules/.bin"), process.env["PATH"]].join(delimiter);
    const args = ["scripts/start.ts", "--port", "0", "--persist-to", this.state, "--log-level", "error"];
    // As npm says it, so that it ends by itself when this process is killed.
    const npm = { npm_lifecycle_event: "start" };
    const env = { ...process.env, ...npm, ...this.#environment, PATH: path, LIGHT_AGENT_TEST: this.#mark };
    const child = spawn(process.execPath, args, { env });
    this.#process = child;
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    for (;;) {
      const [, url, key] = /^Ready: (\S+)\nSign in: \1\/#key=(\S+)$/m.exec(output) ?? [];
      if (url !== undefined && key !== undefined) {
        this.url = url;
        this.key = decodeURIComponent(key);
        return;
      }
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(output);
      await delay(50);
    }
  }

  /** The ids of its processes. */
  processes(): number[] {
    return this.#mark === "" ? [] : markedProcesses(`LIGHT_AGENT_TEST=${this.#mark}`);
  }

  /** Kills every process of it at once, so that no clean-up runs. */
  async kill(): Promise<void> {
    for (let ids = this.processes(); ids.length > 0; ids = this.processes()) {
      for (const id of ids) {
        try {
          process.kill(id, "SIGKILL");
        } catch {
          // It has ended meanwhile.
        }
      }
      await delay(20);
    }
  }

  /** Ends it in an orderly way and removes its state. */
  async stop(): Promise<void> {
    if (this.#process && this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill("SIGTERM");
      await once(this.#process, "exit");
    }
    await this.kill();
    rmSync(this.state, { recursive: true, force: true });
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.key}`);
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  /** A JSON call. @throws when the answer is not a success */
  async call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { "content-type": "application/json" };
    const response = await this.fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? null : JSON.parse(text)) as T;
  }

  /** A WebSocket of a session, opened as a browser does it. */
  socket(session: string, after = 0): WebSocket {
    const url = `${this.url.replace("http", "ws")}/v1/sessions/${session}/ws?after=${after}`;
    return new WebSocket(url, ["light-agent.v1", `token.${this.key}`]);
  }
}
