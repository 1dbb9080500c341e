/**
 * Every bound of the product in one table: bytes, milliseconds or counts, as the name says.
 * A deployment may override a value in `src/deployment.ts`; a tenant or an agent only downwards.
 */
export const DEFAULT_LIMITS = {
  /** Largest JSON body of a REST request, in bytes. Beyond it: 413 `too_large`. */
  bodyBytes: 1024 * 1024,
  /** Largest WebSocket frame from a client, in bytes. Beyond it: nack `frame_too_large`. */
  frameBytes: 1024 * 1024,
  /** Largest content of one prompt, in bytes of its JSON. Beyond it: 413 `prompt_too_large`. */
  promptBytes: 256 * 1024,
  /** The metadata that a caller keeps with a session, in characters of its JSON. Beyond it: 400 `invalid_request`. */
  metadataChars: 16 * 1024,
  /** Prompts that may wait in one session. Beyond it: 429 `queue_full`. */
  waitingPrompts: 100,
  /** Sockets of one session. Beyond it: 429 `too_many_sockets`. */
  socketsPerSession: 64,
  /** Model calls in one turn. Beyond it the turn ends with `max_steps`. */
  stepsPerTurn: 50,
  /** Tool calls that run at once in one turn; the others wait. */
  parallelCalls: 10,
  /** Time for one tool call unless the tool asks for more. Beyond it: result `timeout`. */
  toolMs: 60_000,
  /** The most time that a tool can ask for. */
  toolMaxMs: 15 * 60_000,
  /** Time for the `beforeModel` hook. Beyond it the turn ends with `hook_failed`. */
  hookMs: 60_000,
  /** Model call: time to the first delta. */
  firstDeltaMs: 60_000,
  /** Model call: time between two deltas. */
  betweenDeltasMs: 60_000,
  /** Model call: the whole call. */
  modelCallMs: 10 * 60_000,
  /** Tries of one model call, the first included. */
  modelTries: 4,
  /** Back-off between tries: full jitter between these two, doubling. */
  retryBaseMs: 500,
  retryCapMs: 8_000,
  /** A Retry-After up to here is waited for in place. */
  retryAfterInPlaceMs: 60_000,
  /** A longer one up to here parks the turn: it waits without being in memory. */
  retryAfterParkedMs: 60 * 60_000,
  /** Failures in a row after which a model with fallbacks rests, and for how long. */
  breakerFailures: 3,
  breakerRestMs: 60_000,
  /** Times that a model is asked again for a reply that its codec or output schema cannot read. Beyond it the call fails. */
  repairCalls: 2,
  /** Wakes that find the turn without progress before it ends with `crash_loop`. */
  wakesWithoutProgress: 5,
  /** Time that a stopped turn gives its running tools. */
  stopGraceMs: 2_000,
  /** A model's context window, in tokens, unless the agent says how large it is. */
  windowTokens: 128_000,
  /** Of it, what is kept for the reply; at most a quarter of the window. */
  replyTokens: 16_000,
  /** How long an approval or a question stays open. */
  requestMs: 30 * 24 * 60 * 60_000,
  /** All text, thought and argument text of one reply, in UTF-16 units. Beyond it the model call fails. */
  replyChars: 512 * 1024,
  /** Arguments of one tool call, in bytes. Beyond it the call counts as malformed. */
  argumentBytes: 256 * 1024,
  /** A longer string in a durable event is spilled to an artifact, in bytes of UTF-8. */
  inlineStringBytes: 64 * 1024,
  /** One row of the log, in bytes: SQLite in a Durable Object refuses 2 MB. */
  logRowBytes: 1024 * 1024,
  /** One `events` frame or page of a replay, in bytes. */
  replayPageBytes: 256 * 1024,
  /** Events in one JSON page of the log. */
  eventsPageDefault: 500,
  eventsPageMax: 5_000,
  /** Socket flow control: a `sync` after so many bytes; replay pauses and a live socket closes when so many are unanswered. */
  syncBytes: 1024 * 1024,
  replayPauseBytes: 4 * 1024 * 1024,
  socketCloseBytes: 8 * 1024 * 1024,
  /** A window in which deltas are gathered while more arrive; with more than 30 followers it is longer, in proportion. */
  deltaWindowMs: 4,
  /** Keep-alive of an event stream over HTTP. */
  keepAliveMs: 15_000,
  /** An alarm so long after the last sign of life of a running turn. */
  heartbeatMs: 30_000,
  /** One file, in bytes. Beyond it: 413 `file_too_large`. */
  fileBytes: 100 * 1024 * 1024,
  /** Files and bytes of one workspace. Beyond either: 409 `workspace_full`. */
  workspaceFiles: 100_000,
  workspaceBytes: 1024 * 1024 * 1024,
  /** What all workspaces of a tenant hold together, in bytes: old versions too, equal contents of a workspace once. Beyond it: 409 `storage_full`. */
  storageBytes: 100 * 1024 * 1024 * 1024,
  /** Versions of a workspace are kept while they are among so many of the newest, or so young. Older: 410 `version_gone`. */
  versions: 1_000,
  versionsMs: 30 * 24 * 60 * 60_000,
  /** Branches of one workspace, the main one included. Beyond it: 409 `workspace_full`. */
  workspaceBranches: 1_000,
  /** Search: pattern bytes, matches (default and most), characters of a shown line, bytes of text scanned. */
  patternBytes: 1024,
  searchMatches: 1_000,
  searchMatchesMax: 10_000,
  searchLineChars: 500,
  searchScanBytes: 256 * 1024 * 1024,
  /** Search: largest file, lines of context, characters shown in all, files named as not searched. */
  searchFileBytes: 16 * 1024 * 1024,
  searchContextLines: 20,
  searchResultChars: 4 * 1024 * 1024,
  searchUnsearchedNamed: 100,
  /** Search: globs of one query; instructions of a compiled pattern; instructions times bytes of text. */
  searchGlobs: 50,
  searchProgram: 2_000,
  searchWork: 10_000_000_000,
  /** The text of one tool result, in bytes. */
  toolResultBytes: 256 * 1024,
  /** Per tenant. Beyond: 429 with `retry-after`. */
  runningTurns: 100,
  promptsPerMinute: 600,
  sessions: 100_000,
  /** Calls of one model that may begin in a minute, in all sessions of a tenant; further ones wait. Nobody counts at the default. */
  modelCallsPerMinute: 100_000,
  /** Tokens that a running turn counts for in the tenant's budget until it has reported what it used. */
  turnReserveTokens: 20_000,
  /** Model providers of a tenant's own. Beyond it: 409 `too_many_providers`. */
  modelProviders: 20,
  /** A SKILL.md, in bytes. Beyond it: 400 `invalid_skill`. */
  skillBytes: 64 * 1024,
  /** The other files of one skill of a library, in bytes; how many, in a library or a workspace's folder. */
  skillFilesBytes: 256 * 1024,
  skillFiles: 100,
  /** Skills of a tenant's library. Beyond it: 409 `too_many_skills`. Of each so many versions are kept for sessions. */
  librarySkills: 100,
  skillVersions: 10,
  /** Skills of one agent, from all sources; further ones are left out, with a diagnostic. */
  agentSkills: 50,
  /** The list of skills in a system prompt, in UTF-16 units; what does not fit is found by `discover_skills`. */
  skillIndexChars: 16_000,
  /** One memory, in UTF-16 units. Beyond it: `invalid_arguments`. */
  memoryChars: 4_000,
  /** Memories of one agent and user. Beyond it: `memory_full`. */
  memories: 5_000,
  /** Pairs of an agent and a user of whom a tenant has memories. Beyond it: `memory_full`. */
  memoryOwners: 100_000,
  /** What a turn begins with of them: how many, UTF-16 units in all, and the time to find them. */
  memoriesRecalled: 5,
  memoryRecallChars: 6_000,
  memoryRecallMs: 2_000,
  /** How long a verified API key is trusted in one isolate. */
  keyCacheMs: 60_000,
  /** A socket's credential is checked again at the latest after so long. */
  recheckMs: 15 * 60_000,
  /** A lease of a running turn at the tenant. */
  leaseMs: 10 * 60_000,
} as const;

/** The bounds in force, each a plain number. */
export type Limits = { readonly [K in keyof typeof DEFAULT_LIMITS]: number };

/** The defaults with some replaced. */
export function withLimits(overrides: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, ...overrides };
}
