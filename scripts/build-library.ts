/** Compiles the library, the client and the command into dist/library, from nothing, so that nothing old is packed. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

rmSync("dist/library", { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
process.exitCode = status ?? 1;
