/** The Worker as a library, for a deployment with tools, models and hooks of its own. */
import { ulid } from "ulid";
import type { Environment } from "./api/environment.ts";
import { createApi } from "./api/router.ts";
import { ROUTES } from "./api/routes.ts";
import { deployment } from "./deployment.ts";
import type { Deployment } from "./deployment.ts";

export type { Environment } from "./api/environment.ts";
export type { Deployment, ModelEnvironment } from "./deployment.ts";
export { Memory } from "./durable/memory.ts";
export { Session } from "./durable/session.ts";
export { Tenant } from "./durable/tenant.ts";
export { Workspace } from "./durable/workspace.ts";

/** What a Worker may offer in another way than the standard one. Its limits are the standard ones. */
export type DeploymentChanges = Partial<Omit<Deployment, "limits">>;

/**
 * The handler of a Worker, which has to export the Durable Object classes `Memory`, `Session`, `Tenant` and `Workspace`, too.
 * To be called once, where the Worker's module is evaluated.
 * @param change Says what differs, given what the standard Worker offers
 */
export function createWorker(change: (standard: Deployment) => DeploymentChanges = () => ({})): {
  fetch(request: Request, environment: Environment): Promise<Response>;
} {
  // An isolate runs one Worker, and its Durable Objects with it: what that offers is one value for all of them, and
  // stands before the platform asks for anything.
  Object.assign(deployment, change({ ...deployment }));
  return {
    fetch: createApi({
      routes: ROUTES,
      clock: Date.now,
      newId: () => ulid(),
      log: (line) => console.error(JSON.stringify(line)),
    }),
  };
}
