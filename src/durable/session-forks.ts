import { MAIN_BRANCH } from "../runtime/workspace/workspace-source.ts";
import { unwrap } from "../runtime/protocol/answer.ts";
import { turnEndedAt } from "./checkpoints.ts";
import type { LiveSession } from "./live-session.ts";
import type { MetaStore } from "./meta-store.ts";
import type { ForkPoint, Origin, SessionKin } from "./session-api.ts";
import type { PastPoint } from "./session-past.ts";
import { META } from "./session-settings.ts";
import type { KnownFork } from "./session-settings.ts";
import type { WorkspaceApi } from "./workspace-api.ts";

/** What keeps a deleted session from being erased. */
export type Claim = "none" | "artifacts" | "past";

/** The forks of a session: where they begin, and which of them live. They show its artifacts, so it must know them. */
export class SessionForks {
  readonly #meta: MetaStore;

  constructor(meta: MetaStore) {
    this.#meta = meta;
  }

  knows(fork: string): boolean {
    return this.#all().some(({ session }) => session === fork);
  }

  /**
   * Where a session that is to be made begins; it is remembered before it is told.
   * @throws LightAgentError `invalid_request`, and what the workspace answers
   */
  async begin(
    session: LiveSession,
    workspace: Pick<WorkspaceApi, "versionAt">,
    fork: string,
    atSeq: number | null,
  ): Promise<ForkPoint> {
    const { settings, agent, store } = session;
    const { open, turn, head } = agent.fold;
    const latest = open ? { turn: open.turn - 1, seq: open.firstSeq - 1 } : { turn, seq: head };
    const through = atSeq === null ? latest : { turn: turnEndedAt(store.log, atSeq), seq: atSeq };
    const { branch = MAIN_BRANCH, origins = [], id } = settings;
    const version = unwrap(await workspace.versionAt(branch, session.point(through)));
    const others = this.#all().filter((known) => known.session !== fork);
    this.#meta.set(META.forks, [...others, { session: fork, throughSeq: through.seq }] satisfies KnownFork[]);
    const { agent: name, agentVersion, definition, workspace: files, title, metadata, budget } = settings;
    const { followAgent, skills, workspaceSkills } = settings;
    return {
      from: { session: id, through, branch, version },
      origins: originsThrough([...origins, { session: id, throughSeq: through.seq }], through),
      settings: {
        agent: name,
        agentVersion,
        definition,
        workspace: files,
        title,
        metadata,
        ...(budget && { budget }),
        ...(followAgent && { followAgent }),
        ...(skills && { skills }),
        ...(workspaceSkills && { workspaceSkills }),
      },
    };
  }

  /** What the forks that still exist need of this session. @throws what an object throws that does not answer */
  async claim(stubOf: (session: string) => SessionKin): Promise<Claim> {
    let claim: Claim = "none";
    const living: KnownFork[] = [];
    for (const fork of this.#all()) {
      const copying = await stubOf(fork.session).copying();
      if (!copying.ok && copying.error.code === "not_found") continue;
      living.push(fork);
      if (unwrap(copying)) claim = "past";
      else if (claim === "none") claim = "artifacts";
    }
    if (living.length < this.#all().length) this.#meta.set(META.forks, living);
    return claim;
  }

  #all(): readonly KnownFork[] {
    return this.#meta.get<KnownFork[]>(META.forks) ?? [];
  }
}

/** Whose events those up to a point are: an origin that reaches beyond it is the last one. */
function originsThrough(origins: readonly Origin[], { seq }: PastPoint): Origin[] {
  const last = origins.findIndex(({ throughSeq }) => throughSeq >= seq);
  const counted = last === -1 ? origins : origins.slice(0, last + 1);
  return counted.map(({ session, throughSeq }) => ({ session, throughSeq: Math.min(throughSeq, seq) }));
}
