import type { Workspace, WorkspaceWriter } from "./workspace.ts";

/** The branch that every workspace begins with. */
export const MAIN_BRANCH = "main";

export interface OpenWorkspace {
  /** @default MAIN_BRANCH */
  readonly branch?: string;
  readonly writer: WorkspaceWriter;
  /** Shows the branch as it was at this version: to read and list, neither to change nor to search. */
  readonly atVersion?: number;
}

/**
 * One workspace, from which handles are opened. Opening does nothing yet: what is wrong with the branch or the version
 * shows at the first call on the handle (`not_found`; `invalid_request` for a version that does not exist yet).
 */
export interface WorkspaceSource {
  open(options: OpenWorkspace): Workspace;
  /**
   * Makes a branch that begins as another is at a version, its head by default. Costs the same however many files
   * there are. The same fork again, of the same branch at the same version, changes nothing.
   * @throws `id_taken` when the branch exists and began as another, `not_found` when the other does not, `invalid_request` for a version
   *   that does not exist yet, `version_gone`
   */
  fork(branch: string, from?: { readonly branch?: string; readonly version?: number }): Promise<void>;
}
