import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** How many sessions have an alarm due, as the local runtime notes it in the folder of its state. */
export function pendingAlarms(state: string): number {
  const file = join(state, "v3/do/light-agent-Session/metadata.sqlite");
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare("SELECT count(*) AS count FROM _cf_ALARM").get()?.["count"]);
  } finally {
    database.close();
  }
}
