/** Compiles the library, the client and the command into dist/library, from nothing, so that nothing old is packed. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

rmSync("dist/library", { recursive: true, force: true });
// The Worker is compiled against other types than what runs in Node; files of both come out the same.
for (const project of ["tsconfig.build.json", "tsconfig.build-worker.json"]) {
  const { status } = spawnSync("tsc", ["-p", project], { stdio: "inherit" });
  process.exitCode ||= status ?? 1;
}
