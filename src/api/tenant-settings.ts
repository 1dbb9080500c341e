import * as z from "zod";
import { deployment } from "../deployment.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import { nameSchema } from "./validation.ts";

const limitNames = Object.keys(deployment.limits) as (keyof Limits)[];

/** A tenant's overrides of limits: from 1 up to the deployment's own value, never beyond. */
const limitsSchema = z.strictObject(
  Object.fromEntries(
    limitNames.map((name) => [name, z.int().min(1).max(deployment.limits[name]).exactOptional()]),
  ) as Record<keyof Limits, z.ZodExactOptional<z.ZodInt>>,
);

const tokens = z.int().positive();

/** Tokens that the tenant's turns may use in a day or a month (UTC). */
const tenantBudgetSchema = z.strictObject({
  dayTokens: tokens.exactOptional(),
  monthTokens: tokens.exactOptional(),
});

/** What root may change of a tenant. */
export const tenantPatch = z.strictObject({
  name: nameSchema.exactOptional(),
  /** Replaces all overrides. */
  limits: limitsSchema.exactOptional(),
  budget: tenantBudgetSchema.exactOptional(),
});

/** A tenant as the directory lists it. */
export const tenantSummary = z.object({ id: z.string(), name: z.string(), createdAt: z.number() });

/** A tenant in full; its keys are a resource of their own. */
export const tenantView = tenantSummary.extend({ limits: limitsSchema, budget: tenantBudgetSchema });
