import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Clock } from "../runtime/protocol/time.ts";
import type { Heard, TurnLease, TurnReport } from "./tenant-api.ts";
import type { TenantBudget } from "./tenant-management-api.ts";
import type { TenantBounds } from "./tenant-record.ts";
import type { TenantStores } from "./tenant-stores.ts";

const MINUTE_MS = 60_000;
/** When a refused turn may come back: turns end at any time. */
const BUSY_RETRY_MS = 5_000;

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
   * (`admit` is false) is counted and never refused. Reads up to one row per running turn and, with a budget, the
   * usage rows of the day and month; writes 2 rows.
   * @throws too_many_turns, rate_limited, budget_exceeded
   */
  begin({ session, turn, admit }: TurnLease, bounds: TenantBounds): null {
    const now = this.#clock();
    const { leases } = this.#stores;
    const held = leases.turnOf(session, now);
    if (held !== turn) {
      if (admit) this.#admit(session, bounds, now);
      this.#countPrompt(now);
    }
    leases.hold(session, turn, now + bounds.limits.leaseMs);
    return null;
  }

  /**
   * Takes a report of a turn's end; a repeated or late one changes nothing that a later one has said. One whose audit
   * begins beyond what is known leaves the index as it is, so that a fuller one can follow. Reads and writes 2 rows per
   * model used, and 3 rows beside.
   */
  end(report: TurnReport, { limits }: TenantBounds): Heard {
    const now = this.#clock();
    const { leases, sessions, usage, audit } = this.#stores;
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
    if (sessions.report(report)) for (const act of report.audit) if (act.seq > known) audit.append(act);
    return { heard: Math.max(known, report.index.head) };
  }

  /** @throws what is exceeded, with the limit's name and when to come back */
  #admit(session: string, { limits, budget }: TenantBounds, now: number): void {
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
    this.#checkBudget(budget, now);
  }

  /** The minute begins with its first prompt, so that no burst falls between two of them. */
  #countPrompt(now: number): void {
    const { records } = this.#stores;
    const { since, prompts } = records.promptCount();
    const sameMinute = now < since + MINUTE_MS;
    records.setPromptCount(sameMinute ? { since, prompts: prompts + 1 } : { since: now, prompts: 1 });
  }

  /** Days and months are those of UTC: the same for every session and user of the tenant. */
  #checkBudget({ dayTokens, monthTokens }: TenantBudget, now: number): void {
    const { usage } = this.#stores;
    const today = new Date(now);
    const day = today.toISOString().slice(0, 10);
    const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
    if (dayTokens !== undefined && usage.tokens(day, day) >= dayTokens) {
      throw exceeded("budget_exceeded", "dayTokens", dayTokens, Date.UTC(year, month, date + 1) - now);
    }
    if (monthTokens !== undefined && usage.tokens(`${day.slice(0, 7)}-01`, day) >= monthTokens) {
      throw exceeded("budget_exceeded", "monthTokens", monthTokens, Date.UTC(year, month + 1) - now);
    }
  }
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
