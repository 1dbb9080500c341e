import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { markedProcesses } from "../../scripts/marked-processes.ts";

/** What a user of the product has of the repository; tests and what is made while one works are not needed. */
const PARTS =
  "cli client docs scripts src web dist README.md package.json tsconfig.json tsconfig.base.json wrangler.toml".split(
    " ",
  );

/** A checkout of its own in which the product starts with nothing set up, on a port that is free. */
export class Checkout {
  readonly folder = mkdtempSync(join(tmpdir(), "checkout-"));
  /** What commands that run in it are to have in their environment. */
  readonly environment: NodeJS.ProcessEnv;
  readonly port: number;
  readonly #mark = randomUUID();

  private constructor(port: number) {
    this.port = port;
    for (const part of PARTS.filter((name) => existsSync(name))) {
      cpSync(part, join(this.folder, part), { recursive: true, preserveTimestamps: true });
    }
    symlinkSync(join(process.cwd(), "node_modules"), join(this.folder, "node_modules"));
    const settings = `${readFileSync("wrangler.toml", "utf8")}\n[dev]\nport = ${port}\n`;
    writeFileSync(join(this.folder, "wrangler.toml"), settings);
    this.environment = {
      ...process.env,
      PATH: [join(process.cwd(), "node_modules/.bin"), process.env["PATH"]].join(delimiter),
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
      OPENAI_MODEL: "",
      LIGHT_AGENT_TEST: this.#mark,
    };
  }

  static async make(): Promise<Checkout> {
    return new Checkout(await freePort());
  }

  /** A text of the documentation, with the port that a user would have replaced by the one of this checkout. */
  here(text: string): string {
    return text.replaceAll("8787", `${this.port}`);
  }

  /** Ends all that still runs in it. */
  async remove(): Promise<void> {
    const mark = `LIGHT_AGENT_TEST=${this.#mark}`;
    for (let ids = markedProcesses(mark); ids.length > 0; ids = markedProcesses(mark)) {
      for (const id of ids) {
        try {
          process.kill(id, "SIGKILL");
        } catch {
          // It has ended meanwhile.
        }
      }
      await delay(20);
    }
    rmSync(this.folder, { recursive: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
}
