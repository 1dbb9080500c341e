import type { CallRequest, Entry, SessionSnapshot, SessionStore } from "../client/index.ts";

/** A call that waits for a person, and what it waits with. */
interface Asked {
  readonly call: Extract<Entry, { kind: "call" }>["call"];
  readonly request: CallRequest;
}

type Asking = Pick<SessionSnapshot, "turns" | "deciding">;

/** What a session asks a person now. */
export function openRequests({ turns, deciding }: Asking): Asked[] {
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
  /** @throws when `answered` is aborted before a line was typed */
  question(text: string, answered: AbortSignal): Promise<string>;
}

/** Asks it at the terminal, and passes the answer on. It is no longer asked once somebody else has answered. */
export async function ask(
  asked: Asked,
  store: Pick<SessionStore, "decide" | "answer" | "subscribe"> & { readonly value: Asking },
  terminal: Terminal,
): Promise<void> {
  const answered = new AbortController();
  const look = (): void => {
    const isOpen = openRequests(store.value).some(({ request }) => idOf(request) === idOf(asked.request));
    if (!isOpen) answered.abort();
  };
  const release = store.subscribe(look);
  try {
    await askUntil(answered.signal, asked, store, terminal);
  } catch (caught) {
    if (!answered.signal.aborted) throw caught;
    terminal.say("\n  It has been settled elsewhere.");
  } finally {
    release();
  }
}

async function askUntil(
  answered: AbortSignal,
  { call, request }: Asked,
  store: Pick<SessionStore, "decide" | "answer">,
  terminal: Terminal,
): Promise<void> {
  if (request.kind === "approval") {
    const reason = request.reason === undefined ? "" : ` ${request.reason}`;
    terminal.say(`? May ${call.name} run?${reason}\n${JSON.stringify(call.args, null, 2)}`);
    const answer = (await terminal.question("  [y]es, [n]o, [a]lways in this session: ", answered))
      .trim()
      .toLowerCase();
    const remember = ["a", "always"].includes(answer);
    const allow = remember || ["y", "yes"].includes(answer);
    return store.decide(request.approvalId, {
      decision: allow ? "allow" : "deny",
      ...(remember ? { remember } : {}),
    });
  }
  const { question, options, inputId, multiSelect } = request;
  terminal.say(`? ${question}`);
  for (const [index, option] of options.entries()) terminal.say(`  ${index + 1}. ${option}`);
  const numbers = multiSelect ? "numbers" : "a number";
  const hint = options.length > 0 ? `  ${numbers}, or your answer: ` : "  your answer: ";
  const answer = (await terminal.question(hint, answered)).trim();
  const selected = chosen(answer, options, multiSelect);
  await store.answer(inputId, selected === null ? { text: answer } : { selected });
}

/** The options whose numbers were typed; null for an answer in words. */
function chosen(answer: string, options: readonly string[], multiSelect: boolean): string[] | null {
  const numbers = multiSelect ? answer.split(/[\s,]+/) : [answer];
  const selected = numbers.map((number) => options[Number(number) - 1]);
  return selected.every((option) => option !== undefined) ? selected : null;
}
