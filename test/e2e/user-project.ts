import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** What somebody has who writes TypeScript for browsers or Workers, beside the package and what it needs. */
const OWN = ["@cloudflare/workers-types", "@types/node", "@types/react", "preact", "react", "react-dom"];

/** Somebody else's project, with the package in it as npm would publish it. */
export class UserProject {
  readonly folder = mkdtempSync(join(tmpdir(), "library-"));

  constructor() {
    execFileSync("npm", ["run", "build:library"]);
    const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", this.folder], {
      encoding: "utf8",
    });
    const name = /"filename":\s*"([^"]+)"/.exec(packed)?.[1] ?? "";
    const modules = join(this.folder, "node_modules");
    const own = join(modules, "light-agent");
    mkdirSync(own, { recursive: true });
    execFileSync("tar", ["xzf", join(this.folder, name), "--strip-components", "1", "-C", own]);
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    for (const dependency of [...Object.keys(dependencies), ...OWN]) {
      mkdirSync(dirname(join(modules, dependency)), { recursive: true });
      symlinkSync(join(process.cwd(), "node_modules", dependency), join(modules, dependency));
    }
    this.write("package.json", '{ "type": "module" }');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  /** Runs a program in Node. @returns what it prints */
  async run(file: string): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      cwd: this.folder,
      timeout: 60_000,
    });
    return stdout;
  }

  /** What the compiler says of these files, in its strict mode; empty when all is well. */
  typeErrors(files: readonly string[], options: object): string {
    const base = {
      strict: true,
      exactOptionalPropertyTypes: true,
      module: "ESNext",
      moduleResolution: "bundler",
      target: "ES2024",
      noEmit: true,
      skipLibCheck: true,
    };
    this.write("tsconfig.json", JSON.stringify({ compilerOptions: { ...base, ...options }, files }));
    try {
      const compiler = join(process.cwd(), "node_modules/typescript/bin/tsc");
      return execFileSync(process.execPath, [compiler, "-p", "."], { cwd: this.folder, encoding: "utf8" });
    } catch (caught) {
      return String((caught as { stdout?: unknown }).stdout);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** The code blocks of a page in one language, as they stand. */
export function codeBlocks(page: string, language: string): string[] {
  const blocks = readFileSync(page, "utf8").matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"));
  return [...blocks].map(([, code = ""]) => code);
}
