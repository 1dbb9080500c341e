import { LightAgentError } from "../protocol/errors.ts";
import type { ToolContext } from "../tool/tool.ts";
import type { Past } from "../context/past.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What every tool of an agent is given: its own handle on the workspace beside the context of its call. */
export interface AgentToolContext extends ToolContext {
  readonly workspace: Workspace;
  /** What the conversation was before something of it went out. */
  readonly past: Past;
}

/** A handle that refuses everything once the signal has aborted: a settled call can change nothing more. */
export function revocable(workspace: Workspace, signal: AbortSignal): Workspace {
  const guard = async <Result>(method: () => Promise<Result>): Promise<Result> => {
    if (signal.aborted) throw new LightAgentError("stopped", "The call is settled; its workspace is closed.");
    return method();
  };
  return {
    version: () => guard(() => workspace.version()),
    stat: (path) => guard(() => workspace.stat(path)),
    list: (path, options) => guard(() => workspace.list(path, options)),
    read: (path, range) => guard(() => workspace.read(path, range)),
    change: (changes) => guard(() => workspace.change(changes)),
    search: (query) => guard(() => workspace.search(query)),
    outcome: (callId) => guard(() => workspace.outcome(callId)),
  };
}
