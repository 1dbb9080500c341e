import { expect, it } from "vitest";
import { filesOfDrop, filesOfInput } from "../../../web/source-files.ts";

function chosen(path: string, inFolder: boolean): File {
  const file = new File(["x"], path.slice(path.lastIndexOf("/") + 1));
  return Object.assign(file, { webkitRelativePath: inFolder ? path : "" });
}

interface Tree {
  readonly [name: string]: Tree | null;
}

/** A dropped folder whose content comes in parts of two. */
function folder(name: string, tree: Tree, parent = ""): unknown {
  const fullPath = `${parent}/${name}`;
  const children = Object.entries(tree).map(([child, below]) =>
    below === null ? leaf(child, fullPath) : folder(child, below, fullPath),
  );
  const createReader = () => ({
    readEntries: (resolve: (part: unknown[]) => void) => resolve(children.splice(0, 2)),
  });
  return { isFile: false, isDirectory: true, name, fullPath, createReader };
}

function leaf(name: string, parent = ""): unknown {
  const file = (resolve: (file: File) => void) => resolve(new File(["x"], name));
  return { isFile: true, isDirectory: false, name, fullPath: `${parent}/${name}`, file };
}

const dropped = (...entries: unknown[]): DataTransferItem[] =>
  entries.map((entry) => ({ webkitGetAsEntry: () => entry }) as unknown as DataTransferItem);

it("[WEB-3] a chosen folder keeps its name, and `.git` and `node_modules` are left out at any depth", () => {
  const all = [
    "app/a.ts",
    "app/.git/HEAD",
    "app/lib/node_modules/x/index.js",
    "app/.gitignore",
    "app/node_modules.md",
  ];
  const { files, skipped } = filesOfInput(all.map((path) => chosen(path, true)));
  expect(files.map(({ path }) => path)).toEqual(["app/a.ts", "app/.gitignore", "app/node_modules.md"]);
  expect(skipped).toBe(2);
});

it("[WEB-3] chosen files go to the root, under composed names", () => {
  const { files } = filesOfInput([chosen("cafe\u0301.txt", false)]);
  expect(files.map(({ path }) => path)).toEqual(["caf\u00e9.txt"]);
});

it("[WEB-3] dropped files and folders are taken whole, without `.git` and `node_modules`", async () => {
  const tree: Tree = {
    src: { "a.ts": null, "b.ts": null, "c.ts": null, deep: { "d.ts": null } },
    ".git": { HEAD: null },
    node_modules: { x: { "index.js": null } },
  };
  const { files } = await filesOfDrop(dropped(folder("app", tree), leaf("readme.md"), null));
  expect(files.map(({ path }) => path).sort()).toEqual([
    "app/src/a.ts",
    "app/src/b.ts",
    "app/src/c.ts",
    "app/src/deep/d.ts",
    "readme.md",
  ]);
});

it("[WEB-3] a dropped folder that cannot be read is named", async () => {
  const readEntries = (_resolve: unknown, reject: (reason: Error) => void) =>
    reject(new Error("no permission"));
  const closed = {
    isFile: false,
    isDirectory: true,
    name: "locked",
    fullPath: "/locked",
    createReader: () => ({ readEntries }),
  };
  await expect(filesOfDrop(dropped(closed))).rejects.toThrow("“locked” cannot be read.");
});
