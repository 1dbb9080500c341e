import { createWorker } from "./create-worker.ts";
import type { Environment } from "./create-worker.ts";

export { Memory, Session, Tenant, Workspace } from "./create-worker.ts";

export default createWorker() satisfies ExportedHandler<Environment>;
