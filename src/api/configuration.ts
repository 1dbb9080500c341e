import { LightAgentError } from "../runtime/protocol/errors.ts";
import type { Environment } from "./environment.ts";

const REQUIRED = ["ROOT_KEY", "SIGNING_KEY", "ENCRYPTION_KEY"] as const;

/** The secrets without which the Worker serves nothing. */
export type Secrets = Record<(typeof REQUIRED)[number], string>;

/** @throws not_configured, naming what is missing */
export function secretsOf(environment: Environment): Secrets {
  const missing = REQUIRED.filter((name) => !environment[name]);
  if (missing.length > 0) {
    throw new LightAgentError(
      "not_configured",
      `Set ${missing.join(", ")} (\`wrangler secret put\`, or .dev.vars on your machine).`,
      { missing },
    );
  }
  const { ROOT_KEY = "", SIGNING_KEY = "", ENCRYPTION_KEY = "" } = environment;
  return { ROOT_KEY, SIGNING_KEY, ENCRYPTION_KEY };
}
