#!/usr/bin/env node
import { stderr, stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { RestClient, SessionStore } from "../client/index.ts";
import type { SessionSnapshot } from "../client/index.ts";
import { toErrorBody } from "../src/runtime/protocol/errors.ts";
import { USAGE, readArguments } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { printable } from "./printable.ts";
import { ask, openRequests } from "./requests.ts";
import { Transcript } from "./transcript.ts";

/** How the command ends; USAGE says what each means. */
const EXIT = { done: 0, unusable: 1, failed: 2, waiting: 3, stopped: 130 } as const;

/** A second Ctrl-C within so many ms leaves. */
const TWICE_MS = 2_000;

async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2), process.env);
  if (given === "help") {
    console.log(USAGE);
    return EXIT.done;
  }
  const piped = given.prompt === null && !stdin.isTTY ? (await text(stdin)).trim() : "";
  const prompt = given.prompt ?? (piped === "" ? null : piped);
  if (prompt === null && !stdin.isTTY)
    throw new TypeError("There is no prompt: give --prompt, or pipe one in.");
  const { url, key: credential } = given;
  const rest = new RestClient({ url, credential });
  const session = given.session ?? (await newSession(rest, given));
  const store = new SessionStore({ url, credential, session, rest });
  try {
    return await new Talk(store, given.json).run(prompt);
  } finally {
    store.close();
  }
}

async function newSession(rest: RestClient, { agent, json }: Arguments): Promise<string> {
  const { id } = await rest.createSession(agent === null ? {} : { agent });
  // To standard error, so that what is printed stays the agent's.
  if (!json) console.error(`Session ${id}: go on with --session ${id}`);
  return id;
}

/** One person at a terminal, and one session. */
class Talk {
  readonly #store: SessionStore;
  readonly #json: boolean;
  readonly #transcript = new Transcript();
  #printed = 0;
  #stoppedAt = 0;

  constructor(store: SessionStore, json: boolean) {
    this.#store = store;
    this.#json = json;
  }

  /** Opens the session and does what is asked. @returns the exit code */
  async run(prompt: string | null): Promise<number> {
    const { promise: leaving, resolve: leave } = Promise.withResolvers<number>();
    const release = this.#store.subscribe(() => this.#print(this.#store.value));
    const interrupted = (): void => {
      const now = Date.now();
      if (this.#store.runningTurn === 0 || now - this.#stoppedAt < TWICE_MS) return leave(EXIT.stopped);
      this.#stoppedAt = now;
      void this.#store.stop();
    };
    // With --json what is asked stands beside the log, not in it.
    const output = this.#json ? stderr : stdout;
    const terminal = stdin.isTTY ? createInterface({ input: stdin, output }) : null;
    terminal?.on("SIGINT", interrupted);
    terminal?.on("close", () => leave(EXIT.done));
    process.on("SIGINT", interrupted);
    try {
      this.#store.open();
      await this.#until(({ connection }) => connection.status === "live");
      const talking = prompt === null && terminal ? this.#talk(terminal) : this.#turn(prompt ?? "", terminal);
      return await Promise.race([talking, leaving]);
    } finally {
      release();
      process.off("SIGINT", interrupted);
      terminal?.close();
    }
  }

  async #talk(terminal: Interface): Promise<number> {
    for (;;) {
      const line = (await terminal.question("> ")).trim();
      if (line === "") continue;
      if (line === "/exit" || line === "/quit") return EXIT.done;
      await this.#turn(line, terminal);
    }
  }

  /** Prompts, and waits until the turn that the prompt is in has ended or waits for somebody who is not here. */
  async #turn(prompt: string, terminal: Interface | null): Promise<number> {
    this.#transcript.typed(prompt);
    const before = this.#store.value.turns.filter(({ running }) => !running).length;
    this.#store.send(prompt, "queue");
    for (;;) {
      const snapshot = await this.#until(
        (now) =>
          now.unsent.some(({ error }) => error !== null) ||
          openRequests(now).length > 0 ||
          (now.unsent.length === 0 && now.queue.length === 0 && this.#ended(now) > before),
      );
      const [refused] = snapshot.unsent.flatMap(({ error }) => error ?? []);
      if (refused) {
        console.error(printable(`${refused.message} (${refused.code})`));
        return EXIT.unusable;
      }
      const [asked] = openRequests(snapshot);
      if (!asked) return exitOf(snapshot);
      if (!terminal) {
        console.error("The turn waits for a person.");
        return EXIT.waiting;
      }
      await ask(asked, this.#store, {
        say: (text) => void (this.#json ? stderr : stdout).write(`${printable(text)}\n`),
        question: (text, signal) => terminal.question(text, { signal }),
      });
    }
  }

  #ended({ turns }: SessionSnapshot): number {
    return turns.at(-1)?.running === false ? turns.length : 0;
  }

  #print({ view, turns, connection }: SessionSnapshot): void {
    if (connection.status === "catching_up" && !this.#json) return;
    if (!this.#json) return void stdout.write(this.#transcript.next({ turns, view }));
    for (const event of view.events.slice(this.#printed)) stdout.write(`${JSON.stringify(event)}\n`);
    this.#printed = view.events.length;
  }

  /** The first snapshot that is as wanted. @throws when the connection ends for good */
  #until(isWanted: (snapshot: SessionSnapshot) => boolean): Promise<SessionSnapshot> {
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        const { value } = this.#store;
        if (isWanted(value)) resolve(value);
        else if (value.connection.status === "ended")
          reject(new Error(value.connection.error?.message ?? "Closed."));
        else return false;
        return true;
      };
      if (look()) return;
      const release = this.#store.subscribe(() => {
        if (look()) release();
      });
    });
  }
}

function exitOf({ turns }: SessionSnapshot): number {
  const stop = turns.at(-1)?.entries.findLast((entry) => entry.kind === "stop");
  if (stop?.kind !== "stop") return EXIT.failed;
  const { reason } = stop.stop;
  return reason === "stop" ? EXIT.done : reason === "aborted" ? EXIT.stopped : EXIT.failed;
}

main().then(
  (code) => process.exit(code),
  (caught: unknown) => {
    const { code, message } = toErrorBody(caught);
    const known = code === "internal" && caught instanceof Error ? caught.message : message;
    console.error(known);
    process.exit(EXIT.unusable);
  },
);
