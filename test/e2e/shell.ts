import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";

/** What a block of commands came to. */
export interface BlockResult {
  /** What it printed, without blanks at either end. */
  readonly output: string;
  /** The exit code of its last command. */
  readonly code: number;
}

/** One bash that runs blocks of commands in order, as somebody does who copies them from a page. */
export class Shell {
  readonly #process: ChildProcessWithoutNullStreams;
  #output = "";
  #errors = "";
  #blocks = 0;
  #heard: () => void = () => undefined;

  constructor(folder: string, environment: NodeJS.ProcessEnv) {
    this.#process = spawn("bash", ["--norc"], { cwd: folder, env: environment });
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
      this.#heard();
    });
    this.#process.once("exit", () => this.#heard());
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => (this.#errors += text));
  }

  /** @throws Error when the shell itself ends, with what was printed */
  async run(block: string): Promise<BlockResult> {
    this.#blocks += 1;
    const mark = `--- end of block ${this.#blocks}:`;
    this.#output = "";
    this.#process.stdin.write(`${block}\nprintf '\\n${mark} %s\\n' $?\n`);
    for (;;) {
      const [, output = "", code] = new RegExp(`^([^]*)\\n${mark} (\\d+)\\n$`).exec(this.#output) ?? [];
      if (code !== undefined) return { output: output.trim(), code: Number(code) };
      if (this.#process.exitCode !== null || this.#process.signalCode !== null)
        throw new Error(this.#output + this.#errors);
      await new Promise<void>((resolve) => (this.#heard = resolve));
    }
  }

  /** What was said on the error stream so far. */
  get errors(): string {
    return this.#errors;
  }

  /** Ends the shell, whatever it is doing; what it has started in the background goes on. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill("SIGKILL");
    await once(this.#process, "exit");
  }
}
