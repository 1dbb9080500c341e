import type {
  AnswerBody,
  DecisionBody,
  InterruptBody,
  InterruptReceipt,
  PromptBody,
  PromptReceipt,
} from "../../src/runtime/protocol/frames.ts";

/** A prompt that the test has sent. Times are those of `Account.tick`. */
export interface SentPrompt {
  readonly promptId: string;
  readonly body: PromptBody & { readonly text: string; readonly promptId: string };
  readonly sentAt: number;
  /** Null while no answer has come. */
  ackedAt: number | null;
  /** The first receipt. */
  receipt: PromptReceipt | null;
  /** The code of a refusal. */
  refused: string | null;
  /** How often it was sent; beyond 1 an earlier one may have been accepted without its answer arriving. */
  attempts: number;
  /** Somebody has asked to withdraw it; `acked`: that was confirmed. */
  withdrawal: "none" | "asked" | "acked";
}

export interface SentInterrupt {
  readonly body: InterruptBody;
  readonly sentAt: number;
  receipt: InterruptReceipt | null;
}

/** What a person said of an approval or a question. */
export interface SentDecision {
  readonly id: string;
  readonly said: DecisionBody | AnswerBody;
  readonly by: string;
  /** It was taken, as far as the person knows. */
  confirmed: boolean;
}

/** The test's own account of one session: what it asked for, and what was promised in return. */
export class Account {
  readonly session: string;
  readonly workspace: string;
  readonly prompts = new Map<string, SentPrompt>();
  readonly interrupts: SentInterrupt[] = [];
  readonly decisions: SentDecision[] = [];
  readonly answers: SentDecision[] = [];
  /** Promises that were broken on the spot. */
  readonly problems: string[] = [];
  #time = 0;

  constructor(session: string, workspace: string) {
    this.session = session;
    this.workspace = workspace;
  }

  /** The next moment of a clock that only counts. */
  tick(): number {
    return ++this.#time;
  }

  prompt(body: SentPrompt["body"]): SentPrompt {
    const prompt: SentPrompt = {
      promptId: body.promptId,
      body,
      sentAt: this.tick(),
      ackedAt: null,
      receipt: null,
      refused: null,
      attempts: 0,
      withdrawal: "none",
    };
    this.prompts.set(body.promptId, prompt);
    return prompt;
  }

  /** Notes the receipt of a prompt; every further one must be the same. */
  acked(prompt: SentPrompt, receipt: PromptReceipt): void {
    const { receipt: first, promptId } = prompt;
    if (first === null) {
      prompt.receipt = receipt;
      prompt.refused = null;
      prompt.ackedAt = this.tick();
    } else if (JSON.stringify(first) !== JSON.stringify(receipt)) {
      const [before, now] = [JSON.stringify(first), JSON.stringify(receipt)];
      this.problems.push(`prompt ${promptId} was answered ${before} and then ${now}`);
    }
  }

  get accepted(): SentPrompt[] {
    return [...this.prompts.values()].filter(({ receipt }) => receipt !== null);
  }
}
