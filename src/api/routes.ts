import { agUiRoutes } from "./ag-ui/routes.ts";
import { agentRoutes } from "./agents.ts";
import { aiSdkRoutes } from "./ai-sdk/routes.ts";
import { artifactRoutes } from "./artifacts.ts";
import { auditRoutes } from "./audit.ts";
import { chatRoutes } from "./chat.ts";
import { checkpointRoutes } from "./checkpoints.ts";
import { compactionRoutes } from "./compaction.ts";
import { descriptionRoutes } from "./description.ts";
import { eventRoutes } from "./events.ts";
import { fileRoutes } from "./files.ts";
import { healthRoutes } from "./health.ts";
import { keyRoutes } from "./keys.ts";
import { memoryRoutes } from "./memories.ts";
import { messageRoutes } from "./messages.ts";
import { modelProviderRoutes } from "./model-providers.ts";
import { promptRoutes } from "./prompts.ts";
import { queueRoutes } from "./queue.ts";
import { requestRoutes } from "./requests.ts";
import type { Route } from "./route.ts";
import { sessionRoutes } from "./sessions.ts";
import { skillRoutes } from "./skills.ts";
import { socketRoutes } from "./socket.ts";
import { tenantRoutes } from "./tenants.ts";
import { tokenRoutes } from "./tokens.ts";
import { traceRoutes } from "./trace.ts";
import { usageRoutes } from "./usage.ts";
import { workspaceArchiveRoutes } from "./workspace-archive.ts";
import { workspaceChangeRoutes } from "./workspace-changes.ts";
import { workspaceSearchRoutes } from "./workspace-search.ts";
import { workspaceVersionRoutes } from "./workspace-versions.ts";
import { workspaceRoutes } from "./workspaces.ts";

/** Every route of the API, in the order of its description. */
export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...descriptionRoutes(() => ROUTES),
  ...tenantRoutes,
  ...keyRoutes,
  ...modelProviderRoutes,
  ...skillRoutes,
  ...agentRoutes,
  ...memoryRoutes,
  ...sessionRoutes,
  ...promptRoutes,
  ...queueRoutes,
  ...requestRoutes,
  ...checkpointRoutes,
  ...compactionRoutes,
  ...eventRoutes,
  ...socketRoutes,
  ...messageRoutes,
  ...traceRoutes,
  ...artifactRoutes,
  ...tokenRoutes,
  ...chatRoutes,
  ...aiSdkRoutes,
  ...agUiRoutes,
  ...workspaceRoutes,
  ...fileRoutes,
  ...workspaceArchiveRoutes,
  ...workspaceChangeRoutes,
  ...workspaceSearchRoutes,
  ...workspaceVersionRoutes,
  ...usageRoutes,
  ...auditRoutes,
];
