import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const FILES = {
  "src/cart.ts":
    "import { price } from './price.ts';\n\nexport function cartTotal() {\n  return price();\n}\n",
  "src/price.ts": "export const price = () => 7;\n",
  "README.md": "# Shop\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  "node_modules/left-pad/index.js": "module.exports = 1;\n",
};

/** A small project on disk, with what an upload leaves out. The caller removes the folder that it is in. */
export function makeSampleFolder(): string {
  const folder = join(mkdtempSync(join(tmpdir(), "web-")), "shop");
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
