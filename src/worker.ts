import { createWorker } from "./create-worker.ts";
import type { Environment } from "./create-worker.ts";

export { Memory } from "./durable/memory.ts";
export { Session } from "./durable/session.ts";
export { Tenant } from "./durable/tenant.ts";
export { Workspace } from "./durable/workspace.ts";
export { Session, Tenant, Workspace } from "./create-worker.ts";

export default createWorker() satisfies ExportedHandler<Environment>;
