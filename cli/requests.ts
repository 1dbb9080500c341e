import type { CallRequest, Entry, SessionSnapshot, SessionStore } from "../client/index.ts";

/** A call that waits for a person, and what it waits with. */
interface Asked {
  readonly call: Extract<Entry, { kind: "call" }>["call"];
  readonly request: CallRequest;
}

/** What a session asks a person now. */
export function openRequests({ turns, deciding }: Pick<SessionSnapshot, "turns" | "deciding">): Asked[] {
  return (turns.at(-1)?.entries ?? []).flatMap((entry) => {
    if (entry.kind !== "call" || !entry.request || deciding.has(idOf(entry.request))) return [];
    return [{ call: entry.call, request: entry.request }];
  });
}

function idOf(request: CallRequest): string {
  return request.kind === "approval" ? request.approvalId : request.inputId;
}

/** The person at the terminal. */
export interface Terminal {
  say(text: string): void;
  question(text: string): Promise<string>;
}

/** Asks it at the terminal, and passes the answer on. */
export async function ask(
  { call, request }: Asked,
  store: Pick<SessionStore, "decide" | "answer">,
  terminal: Terminal,
): Promise<void> {
  if (request.kind === "approval") {
    const reason = request.reason === undefined ? "" : ` ${request.reason}`;
    terminal.say(`? May ${call.name} run?${reason}\n${JSON.stringify(call.args, null, 2)}`);
    const answer = (await terminal.question("  [y]es, [n]o, [a]lways in this session: "))
      .trim()
      .toLowerCase();
    const remember = ["a", "always"].includes(answer);
    const allow = remember || ["y", "yes"].includes(answer);
    return store.decide(request.approvalId, {
      decision: allow ? "allow" : "deny",
      ...(remember ? { remember } : {}),
    });
  }
  const { question, options, inputId } = request;
  terminal.say(`? ${question}`);
  for (const [index, option] of options.entries()) terminal.say(`  ${index + 1}. ${option}`);
  const hint = options.length > 0 ? "  a number, or your answer: " : "  your answer: ";
  const answer = (await terminal.question(hint)).trim();
  const chosen = options[Number(answer) - 1];
  await store.answer(inputId, chosen === undefined ? { text: answer } : { selected: [chosen] });
}
