import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import { pinnedSkills } from "./session-admission.ts";
import type { Heard, PinnedAgent, TurnBeginning, TurnLease, TurnReport } from "./tenant-api.ts";
import type { TenantBounds } from "./tenant-record.ts";
import type { TenantStores } from "./tenant-stores.ts";

const MINUTE_MS = 60_000;
/** When a refused turn may come back: turns end at any time. */
const BUSY_RETRY_MS = 5_000;
/** A running turn reserves no more than this part of a budget, so that a small one does not run one turn at a time. */
const RESERVED_SHARE = 20;

/** Lets the turns of a tenant's sessions begin, within its limits and budget, and takes their reports. */
export class TenantTurnLedger {
  readonly #stores: TenantStores;
  readonly #clock: Clock;

  constructor(stores: TenantStores, clock: Clock) {
    this.#stores = stores;
    this.#clock = clock;
  }

  /**
   * Takes or renews the lease of a running turn. A new one counts a prompt; one whose prompt had been accepted
   * (`admit` is false) is counted and never refused: with a budget that is used up it makes one model call. Reads up to
   * one row per running turn, provider and model, with a budget the usage rows of the day and month, and for a session that
   * follows its agent that one's newest version; writes 2 rows.
   * @throws too_many_turns, rate_limited, budget_exceeded
   */
  begin({ session, turn, admit, follows, resumes = false }: TurnLease, bounds: TenantBounds): TurnBeginning {
    const now = this.#clock();
    const { leases, providers, models } = this.#stores;
    const held = leases.turnOf(session, now);
    if (held !== turn) {
      if (admit) this.#admit(session, bounds, now);
      if (!resumes) this.#countPrompt(now);
    }
    leases.hold(session, turn, now + bounds.limits.leaseMs);
    const left = this.#tokensLeft(bounds, now, leases.count(now) - 1);
    const tokensLeft = left === null ? null : Math.max(left.tokens, 1);
    const leave = { providers: providers.all(), resting: models.resting(now), tokensLeft };
    const agent = follows && this.#newer(follows, bounds);
    return agent ? { ...leave, agent } : leave;
  }

  #newer(
    { agent, version }: NonNullable<TurnLease["follows"]>,
    { limits }: TenantBounds,
  ): PinnedAgent | undefined {
    const newest = this.#stores.agents.newest(agent);
    if (newest.version === version) return undefined;
    const skills = pinnedSkills(this.#stores, newest, limits);
    return { version: newest.version, definition: newest.definition, ...(skills && { skills }) };
  }

  /**
   * Takes a report of a turn's end; a repeated or late one changes nothing that a later one has said. One whose audit
   * begins beyond what is known leaves the index as it is, so that a fuller one can follow. Reads and writes 2 rows per
   * model used, and 3 rows beside.
   */
  end(report: TurnReport, { limits }: TenantBounds): Heard {
    const now = this.#clock();
    const { leases, sessions, usage, audit, models } = this.#stores;
    const { session, turn, continues } = report;
    const held = leases.turnOf(session, now);
    if (held === null || held <= turn) {
      if (continues) {
        this.#countPrompt(now);
        leases.hold(session, turn + 1, now + limits.leaseMs);
      } else leases.release(session);
    }
    for (const total of report.usage) usage.report(session, total);
    const known = sessions.find(session)?.head ?? report.index.head;
    if (known < report.auditAfter) return { heard: known };
    if (sessions.report(report)) {
      for (const act of report.audit) if (act.seq > known) audit.append(act);
      models.add(report.models, limits, now);
    }
    return { heard: Math.max(known, report.index.head) };
  }

  /** @throws what is exceeded, with the limit's name and when to come back */
  #admit(session: string, bounds: TenantBounds, now: number): void {
    const { limits } = bounds;
    const { leases, records } = this.#stores;
    const others = leases.count(now) - (leases.turnOf(session, now) === null ? 0 : 1);
    if (others >= limits.runningTurns) {
      leases.sweep(now);
      throw exceeded("too_many_turns", "runningTurns", limits.runningTurns, BUSY_RETRY_MS);
    }
    const { since, prompts } = records.promptCount();
    if (now < since + MINUTE_MS && prompts >= limits.promptsPerMinute) {
      throw exceeded("rate_limited", "promptsPerMinute", limits.promptsPerMinute, since + MINUTE_MS - now);
    }
    const left = this.#tokensLeft(bounds, now, others);
    if (left !== null && left.tokens <= 0) {
      throw exceeded("budget_exceeded", left.limit, left.value, left.renewsAt - now);
    }
  }

  /** The minute begins with its first prompt, so that no burst falls between two of them. */
  #countPrompt(now: number): void {
    const { records } = this.#stores;
    const { since, prompts } = records.promptCount();
    const sameMinute = now < since + MINUTE_MS;
    records.setPromptCount(sameMinute ? { since, prompts: prompts + 1 } : { since: now, prompts: 1 });
  }

  /**
   * What the tighter of the tenant's budgets has left, less an estimate for each turn that runs and has not reported;
   * null without a budget. Days and months are those of UTC: the same for every session and user of the tenant.
   * @param others turns of other sessions that run
   */
  #tokensLeft({ budget, limits }: TenantBounds, now: number, others: number): TokensLeft | null {
    const { usage } = this.#stores;
    const { dayTokens, monthTokens } = budget;
    if (dayTokens === undefined && monthTokens === undefined) return null;
    const today = new Date(now);
    const day = today.toISOString().slice(0, 10);
    const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
    const left = (limit: TokensLeft["limit"], value: number, from: string, renewsAt: number): TokensLeft => {
      const reserved = others * Math.min(limits.turnReserveTokens, Math.floor(value / RESERVED_SHARE));
      return { limit, value, renewsAt, tokens: value - usage.tokens(from, day) - reserved };
    };
    const month1st = `${day.slice(0, 7)}-01`;
    const all = [
      ...(dayTokens === undefined
        ? []
        : [left("dayTokens", dayTokens, day, Date.UTC(year, month, date + 1))]),
      ...(monthTokens === undefined
        ? []
        : [left("monthTokens", monthTokens, month1st, Date.UTC(year, month + 1))]),
    ];
    return all.reduce((least, one) => (one.tokens < least.tokens ? one : least));
  }
}

/** What a budget has left, and when it begins anew (ms since the epoch). */
interface TokensLeft {
  readonly limit: "dayTokens" | "monthTokens";
  readonly value: number;
  readonly tokens: number;
  readonly renewsAt: number;
}

function exceeded(
  code: "too_many_turns" | "rate_limited" | "budget_exceeded",
  limit: string,
  value: number,
  retryAfterMs: number,
): LightAgentError {
  return new LightAgentError(code, `The tenant has reached ${limit}: ${value}.`, {
    limit,
    value,
    retryAfterMs,
  });
}
