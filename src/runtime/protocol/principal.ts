import * as z from "zod";

/** Who did something: an API key, an end user whom a back end or a token names, or the system itself. */
export const principalSchema = z.object({
  kind: z.enum(["key", "user", "system"]),
  id: z.string(),
});
export type Principal = z.infer<typeof principalSchema>;

/** The runtime itself, for instance when a time limit decides. */
export const SYSTEM: Principal = { kind: "system", id: "system" };
