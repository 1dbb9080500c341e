import { ulid } from "ulid";
import type { Environment } from "./api/environment.ts";
import { createApi } from "./api/router.ts";
import { ROUTES } from "./api/routes.ts";

export { Memory } from "./durable/memory.ts";
export { Session } from "./durable/session.ts";
export { Tenant } from "./durable/tenant.ts";
export { Workspace } from "./durable/workspace.ts";

const api = createApi({
  routes: ROUTES,
  clock: Date.now,
  newId: () => ulid(),
  log: (line) => console.error(JSON.stringify(line)),
});

export default { fetch: api } satisfies ExportedHandler<Environment>;
