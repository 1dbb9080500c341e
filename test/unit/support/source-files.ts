import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The TypeScript files below a folder of the project, as paths from its root, sorted. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes("node_modules"))
    .map((name) => join(folder, name).replaceAll("\\", "/"))
    .sort();
}
