import * as z from "zod";
import { publicRoute } from "./route.ts";
import type { Route } from "./route.ts";

/** For load balancers, and for whoever starts the Worker and waits for it. */
export const healthRoutes: readonly Route[] = [
  publicRoute({
    method: "GET",
    path: "/healthz",
    summary: "Whether the Worker answers. It does so before it is configured, too.",
    responses: { 200: z.object({ status: z.string() }) },
    handle: () => ({ status: 200, body: { status: "ok" } }),
  }),
];
