import { ModelServer } from "../e2e/model-server.ts";
import type { FakeReply } from "../e2e/model-server.ts";
import { messagesOf, problemsOf } from "./model-request.ts";
import type { ModelRequestMessage } from "./model-request.ts";
import { NONCE, planOf } from "./plan.ts";
import type { Plan } from "./plan.ts";

/** What the model knows of one session. */
export interface ModelAccount {
  /** The longest conversation that it was given. */
  messages: readonly ModelRequestMessage[];
  /** Whatever was wrong with its requests. */
  readonly problems: string[];
}

/**
 * The fake model: does what the plan in the last user message says, each call with a nonce that never comes again, and
 * keeps its own account of what it was sent.
 */
export class PlannedModel {
  readonly sessions = new Map<string, ModelAccount>();
  requests = 0;
  /** Requests that could not be understood at all. */
  readonly strays: string[] = [];
  /** Hears of each reply that asks for tools. */
  onCalls: () => void = () => undefined;
  /** Steps that have failed once, as planned. */
  readonly #failed = new Set<string>();
  #server: ModelServer | null = null;

  async start(): Promise<string> {
    this.#server = await ModelServer.start((request) => this.#answer(request));
    return this.#server.baseUrl;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  #answer(request: unknown): FakeReply {
    this.requests += 1;
    // The server keeps all requests, which grow with their sessions; here nobody needs them again.
    this.#server?.requests.splice(0);
    try {
      const messages = messagesOf(request);
      const at = messages.findLastIndex(({ role }) => role === "user");
      const plan = planOf(messages[at]?.content ?? "");
      if (!plan) throw new Error("The last prompt has no plan.");
      this.#note(plan.session, messages);
      const step = messages.slice(at).filter(({ role }) => role === "assistant").length;
      return this.#reply(plan, step);
    } catch (caught) {
      this.strays.push(caught instanceof Error ? caught.message : String(caught));
      return { status: 400 };
    }
  }

  #reply(plan: Plan, index: number): FakeReply {
    const step = plan.steps[index];
    const usage = { prompt_tokens: this.requests, completion_tokens: 1 };
    if (!step) return { text: [`r${this.requests} done`], usage };
    const place = `${plan.session}/${plan.prompt}/${index}`;
    const fault = this.#failed.has(place) ? "none" : step.fault;
    this.#failed.add(place);
    if (fault === "refused") return { status: 503 };
    const { delayMs, thought } = step;
    // No two replies are alike, so that a mixture of two would show.
    const text = step.text.length > 0 ? [`r${this.requests} `, ...step.text] : [];
    if (fault === "cut") return { thought, text: [...text, "cut"], delayMs, cut: true };
    const calls = step.calls.map(({ name, args }, call) => {
      return { name, args: withNonce(args, `n${this.requests}x${call}`) };
    });
    if (calls.length > 0) this.onCalls();
    return { thought, text, calls, delayMs, usage };
  }

  /** Each request goes on where another one of its session stood: none contradicts what was sent before. */
  #note(session: string, messages: readonly ModelRequestMessage[]): void {
    const account = this.sessions.get(session) ?? { messages: [], problems: [] };
    this.sessions.set(session, account);
    account.problems.push(...problemsOf(messages).map((problem) => `request: ${problem}`));
    const common = Math.min(account.messages.length, messages.length);
    for (let at = 0; at < common; at++) {
      const [before, now] = [JSON.stringify(account.messages[at]), JSON.stringify(messages[at])];
      if (before !== now) account.problems.push(`message ${at} was ${before} and is ${now}`);
    }
    if (messages.length > account.messages.length) account.messages = messages;
  }
}

function withNonce(args: Readonly<Record<string, unknown>>, nonce: string): Record<string, unknown> {
  return JSON.parse(JSON.stringify(args).replaceAll(NONCE, nonce)) as Record<string, unknown>;
}
