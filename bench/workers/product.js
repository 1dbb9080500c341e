import { deployment } from "../../src/deployment.ts";
import worker, * as product from "../../src/worker.ts";
import { billed, tellingBilled } from "./billed.js";

// As a fork does it: one tool more. It takes what read_file takes and answers at once, as the peers' tool does.
const readFile = deployment.tools.find(({ name }) => name === "read_file");
const instant = { ...readFile, name: "instant", description: "Answers.", execute: () => ({ content: "ok" }) };
// A hundred clients follow one session in the benchmark of fan-out.
const limits = {
  ...deployment.limits,
  socketsPerSession: 128,
  runningTurns: 1_000,
  promptsPerMinute: 100_000,
};
Object.assign(deployment, { tools: [...deployment.tools, instant], limits });

export class Session extends billed(product.Session) {}
export class Tenant extends billed(product.Tenant) {}
export class Workspace extends billed(product.Workspace) {}
export const { Memory } = product;

export default tellingBilled(worker);
