import { env } from "cloudflare:test";
import type { WorkspaceApi } from "../../src/durable/workspace-api.ts";
import { createWorkspaceSource } from "../../src/durable/workspace-client.ts";
import { SYSTEM } from "../../src/runtime/protocol/principal.ts";
import { describeWorkspace } from "../conformance/workspace-conformance.ts";
import { admitted } from "./workspace-rig.ts";

let workspaces = 0;

describeWorkspace("Workspace object, through its stub", async () => {
  workspaces += 1;
  const id = `conformance${workspaces}`;
  const api = env.WORKSPACE.getByName(`t1:${id}`) as unknown as WorkspaceApi;
  await admitted("t1", id);
  await api.create({ tenant: "t1", id, name: "", by: SYSTEM });
  return createWorkspaceSource(api);
});
