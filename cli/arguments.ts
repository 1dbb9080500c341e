import { parseArgs } from "node:util";

/** What a person has asked the command for. */
export interface Arguments {
  readonly url: string;
  readonly key: string;
  /** Null for a new session. */
  readonly session: string | null;
  readonly agent: string | null;
  /** One prompt and its turn, then the end; null to talk. */
  readonly prompt: string | null;
  /** Events as NDJSON in the place of text for people. */
  readonly json: boolean;
}

export const USAGE = `light-agent [--prompt TEXT] [--session ID] [--agent ID] [--json] [--url URL] [--key KEY]

Talks with an agent. Without --prompt it reads prompts from the terminal; a prompt can also be piped in.

  --prompt TEXT   one prompt; ends when its turn does
  --session ID    goes on with a session, by default a new one
  --agent ID      the agent of a new session
  --json          prints the session's events as NDJSON
  --url URL       the deployment; else LIGHT_AGENT_URL, else http://localhost:8787
  --key KEY       an API key; else LIGHT_AGENT_KEY

Ctrl-C stops the running turn, and once more leaves.
Exit codes: 0 the turn ended; 1 it could not be asked; 2 it failed; 3 it waits for a person; 130 stopped.`;

/** @throws TypeError with what is wrong */
export function readArguments(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Arguments | "help" {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: "string" },
      key: { type: "string" },
      session: { type: "string" },
      agent: { type: "string" },
      prompt: { type: "string", short: "p" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  if (positionals.length > 0)
    throw new TypeError(`Unexpected: ${positionals.join(" ")}. A prompt goes after --prompt.`);
  const key = values.key ?? environment["LIGHT_AGENT_KEY"];
  if (!key) throw new TypeError("No key: give --key or LIGHT_AGENT_KEY.");
  return {
    url: (values.url ?? environment["LIGHT_AGENT_URL"] ?? "http://localhost:8787").replace(/\/+$/, ""),
    key,
    session: values.session ?? null,
    agent: values.agent ?? null,
    prompt: values.prompt ?? null,
    json: values.json,
  };
}
