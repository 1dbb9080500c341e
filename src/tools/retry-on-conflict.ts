import { isLightAgentError } from "../runtime/protocol/errors.ts";

/**
 * Runs a read-and-write once more when somebody else changed the file between its two halves. A second conflict is the
 * caller's to report: then there is real competition for the file.
 */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (caught) {
    if (!isLightAgentError(caught) || caught.code !== "write_conflict") throw caught;
    return attempt();
  }
}
