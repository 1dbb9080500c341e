import { argumentsDigest } from "../guard/arguments-digest.ts";
import { OPEN_GATE, rememberedAs } from "../loop/call-gate.ts";
import type { PermissionGate } from "../loop/call-gate.ts";
import type { DurableBody, DurableEvent, DurablePayload } from "../protocol/durable-events.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { Principal } from "../protocol/principal.ts";
import type { CallState } from "../protocol/session-fold.ts";
import type { Clock } from "../protocol/time.ts";
import { checkNow } from "../tool/tool-arguments.ts";
import type { ToolRegistry } from "../tool/tool-registry.ts";
import type { AgentToolContext } from "./agent-tool-context.ts";
import type { SessionLog } from "./session-log.ts";
import type { TurnDriver } from "./turn-driver.ts";

type Args = Readonly<Record<string, unknown>>;

/** What a person says of an approval. `args` replaces the arguments: exactly these run. */
export interface ApprovalDecision {
  readonly decision: "allow" | "deny";
  readonly reason?: string;
  readonly args?: Args;
  /** Allow what the same rule would ask about the same tool in this session, without asking. */
  readonly remember?: boolean;
}

export type QuestionAnswer = NonNullable<DurablePayload<"input_resolved">["answer"]>;

/** An approval or a question that nobody has answered yet. */
export type OpenRequest = DurableEvent<"approval_request"> | DurableEvent<"input_request">;

/** Where people answer what a turn waits for. Each answer is durable before it is acknowledged. */
export class RequestDesk {
  readonly #log: SessionLog;
  readonly #driver: TurnDriver;
  readonly #tools: ToolRegistry<AgentToolContext>;
  readonly #gate: () => Promise<PermissionGate | null>;
  readonly #clock: Clock;

  constructor(
    log: SessionLog,
    driver: TurnDriver,
    tools: ToolRegistry<AgentToolContext>,
    gate: () => Promise<PermissionGate | null>,
    clock: Clock,
  ) {
    this.#log = log;
    this.#gate = gate;
    this.#driver = driver;
    this.#tools = tools;
    this.#clock = clock;
  }

  async open(): Promise<OpenRequest[]> {
    const { open } = this.#log.fold;
    if (!open) return [];
    const events = await this.#log.read(open.firstSeq - 1);
    return [...events].filter((event): event is OpenRequest => {
      if (event.type === "approval_request") return this.#approval(event.approvalId)?.approval?.open === true;
      return event.type === "input_request" && this.#question(event.inputId)?.question?.open === true;
    });
  }

  /** @throws LightAgentError `not_found`, `already_decided`, `invalid_request` */
  async decide(approvalId: string, decision: ApprovalDecision, by: Principal): Promise<void> {
    const gate = (await this.#gate()) ?? OPEN_GATE;
    const digest = decision.args ? await argumentsDigest(decision.args) : null;
    // From here to the commit nothing may wait: two people can answer at once.
    const state = this.#approval(approvalId);
    if (state?.approval?.open && state.approval.expiresAt <= this.#clock()) {
      this.#driver.notice();
      throw new LightAgentError("already_decided", "The approval has expired.");
    }
    if (!state?.approval?.open) {
      return this.#answeredBefore((event) =>
        event.type === "approval_resolved" && event.approvalId === approvalId
          ? { same: event.decision === decision.decision && sameArguments(event, digest) }
          : null,
      );
    }
    const { call, approval } = state;
    if (decision.args) this.#checkArguments(call.name, decision.args);
    const { turn, step } = this.#log.fold;
    const resolved: DurableBody = {
      type: "approval_resolved",
      turn,
      step,
      approvalId,
      callId: call.id,
      decision: decision.decision,
      digest: digest ?? approval.digest,
      ...(decision.args ? { args: { ...decision.args } } : {}),
      by,
      ...(decision.reason === undefined ? {} : { reason: decision.reason }),
    };
    const remembers = decision.remember === true && decision.decision === "allow";
    const committed = this.#log.commit(
      [resolved],
      remembers ? { remembers: rememberedAs(call.name, gate.verdict(call)) } : {},
    );
    this.#driver.notice();
    await committed;
  }

  /** @throws LightAgentError `not_found`, `already_decided` */
  async answer(inputId: string, answer: QuestionAnswer, by: Principal): Promise<void> {
    const state = this.#question(inputId);
    if (!state?.question?.open) {
      return this.#answeredBefore((event) =>
        event.type === "input_resolved" && event.inputId === inputId
          ? { same: JSON.stringify(event.answer ?? null) === JSON.stringify(answer) }
          : null,
      );
    }
    const { turn, step } = this.#log.fold;
    const committed = this.#log.commit([
      { type: "input_resolved", turn, step, inputId, callId: state.call.id, answer, by },
    ]);
    this.#driver.notice();
    await committed;
  }

  #approval(approvalId: string): CallState | undefined {
    return this.#log.fold.open?.calls.find(({ approval }) => approval?.id === approvalId);
  }

  #question(inputId: string): CallState | undefined {
    return this.#log.fold.open?.calls.find(({ question }) => question?.id === inputId);
  }

  #checkArguments(name: string, args: Args): void {
    const tool = this.#tools.get(name);
    const wrong = tool ? checkNow(name, tool.schema, args) : "The tool no longer exists.";
    if (wrong !== null) throw new LightAgentError("invalid_request", wrong);
  }

  /** A closed request: the same answer again is fine, another comes too late. */
  async #answeredBefore(resolution: (event: DurableEvent) => { same: boolean } | null): Promise<void> {
    const events = await this.#log.read(0);
    for (const event of events) {
      const resolved = resolution(event);
      if (resolved?.same) return;
      if (resolved) throw new LightAgentError("already_decided", "The request has another answer already.");
    }
    throw new LightAgentError("not_found", "There is no such open request.");
  }
}

/** Whether a decision meant the arguments that ran: replaced ones by their digest, else those of the model. */
function sameArguments(event: DurableEvent<"approval_resolved">, digest: string | null): boolean {
  if (event.decision !== "allow") return true;
  return digest === null ? event.args === undefined : event.digest === digest;
}
