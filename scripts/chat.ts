/** The command `light-agent` against the server that `npm start` runs here: `npm run chat [-- its arguments]`. */
import { serverAccess } from "./server-access.ts";

try {
  process.env["LIGHT_AGENT_KEY"] = serverAccess({}, process.env).key;
} catch {
  // The command says what is missing, unless the arguments have it.
}
await import("../cli/light-agent.ts");
