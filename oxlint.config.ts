import { readFileSync } from "node:fs";
import { defineConfig } from "oxlint";

/** What one folder may import from the project and from npm. All that is not named here is denied. */
interface Layer {
  /** Folders of src/runtime/. */
  readonly runtime?: readonly string[];
  /** Folders of src/runtime/ of which it may import types, no values. */
  readonly types?: readonly string[];
  /** npm packages. */
  readonly packages?: readonly string[];
}

/** The layers of src/runtime/, lowest first. A folder that is not in this table may import nothing. */
const RUNTIME = new Map<string, Layer>([
  ["protocol", { packages: ["zod"] }],
  // zod: output schemas come as JSON Schema and are checked by it.
  ["model", { runtime: ["protocol"], packages: ["openai", "zod"] }],
  ["tool", { runtime: ["protocol"], packages: ["zod"] }],
  ["session", { runtime: ["protocol"] }],
  ["workspace", { runtime: ["protocol"], packages: ["diff", "ignore", "picomatch", "re2js"] }],
  // yaml: the frontmatter of skills.
  ["context", { runtime: ["protocol", "model"], packages: ["yaml"] }],
  ["guard", { runtime: ["protocol", "tool"], packages: ["re2js"] }],
  ["trace", { runtime: ["protocol"] }],
  ["loop", { runtime: ["protocol", "model", "tool", "session"], types: ["context"] }],
  [
    "agent",
    {
      runtime: ["protocol", "model", "tool", "session", "workspace", "context", "guard", "trace", "loop"],
      packages: ["p-queue", "zod"],
    },
  ],
  ["mcp", { runtime: ["protocol", "tool", "agent"] }],
  ["graph", { runtime: ["protocol", "tool", "agent"] }],
  ["evolve", { runtime: ["protocol", "tool", "agent"] }],
]);

/** The built-in tools: portable like the runtime, one level above it. */
const TOOLS: Layer = {
  runtime: ["protocol", "tool", "workspace", "context"],
  packages: ["diff", "ignore", "just-bash", "picomatch", "re2js", "zod"],
};

/** Folders and files of src/ that portable code does not know. */
const OUTSIDE = ["api", "durable", "tools", "create-worker.ts", "worker.ts", "deployment.ts", "index.ts"];

const manifest = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as Record<
  "dependencies" | "devDependencies",
  Record<string, string>
>;
const PACKAGES = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });

interface Denied {
  regex: string;
  message: string;
  allowTypeImports?: boolean;
}

function alternatives(names: readonly string[]): string {
  return names.map((name) => name.replaceAll(/[.+*?^$()[\]{}|\\]/g, "\\$&")).join("|");
}

/**
 * Denies relative imports of these files or folders.
 * @param below The folder that holds them, for an importer whose own files may bear the same names.
 */
function deniedPaths(names: readonly string[], message: string, below = ""): Denied[] {
  return [{ regex: `^\\.{1,2}/(.*/)?${below}(${alternatives(names)})(/|$)`, message }];
}

function deniedPackages(names: readonly string[], message: string): Denied[] {
  return [{ regex: `^(${alternatives(names)})(/|$)`, message }];
}

function typesOnly(patterns: Denied[]): Denied[] {
  return patterns.map((pattern) => ({ ...pattern, allowTypeImports: true }));
}

const PORTABLE: Denied[] = [
  { regex: "^(cloudflare|node):", message: "Portable code runs in workerd, Node and browsers alike." },
];
const LAYERS_MESSAGE = "This folder may not import that: see the table in oxlint.config.ts.";

/**
 * The deny lists of one folder: all layers and packages minus those that it may import. Deny lists only, since one
 * negated pattern cancels the other patterns of a rule.
 */
function deniedBy(layer: Layer, own?: string): Denied[] {
  const { runtime = [], types = [], packages = [] } = layer;
  const allowed = [own, ...runtime, ...types];
  return [
    ...deniedPaths(
      [...RUNTIME.keys()].filter((name) => !allowed.includes(name)),
      LAYERS_MESSAGE,
    ),
    ...(types.length === 0 ? [] : typesOnly(deniedPaths(types, "Only types may be imported from there."))),
    ...deniedPackages(
      PACKAGES.filter((name) => !packages.includes(name)),
      LAYERS_MESSAGE,
    ),
    ...deniedPaths(OUTSIDE, "Portable code does not know what surrounds it."),
    ...PORTABLE,
  ];
}

const VENDOR_SDKS = deniedPackages(["openai"], "Vendor SDKs are known to src/runtime/model only.");
const STORAGE: Denied[] = [
  {
    regex: "/durable/(.*/)?([a-z-]+-store|migrations)(\\.ts)?$",
    message: "Storage is the affair of src/durable.",
  },
];
/** For the typed client and the web page: they share the protocol with the server, and nothing else. */
const SERVER = [
  ...deniedPaths(OUTSIDE, "The server's code stays on the server.", "src/"),
  ...deniedPaths(
    [...RUNTIME.keys()].filter((name) => name !== "protocol"),
    "Of the runtime, clients know the protocol only.",
    "src/runtime/",
  ),
  ...PORTABLE,
];

function restrict(folder: string, patterns: Denied[]) {
  const setting: ["error", { patterns: Denied[] }] = ["error", { patterns }];
  return { files: [folder], rules: { "no-restricted-imports": setting } };
}

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import"],
  categories: { correctness: "error" },
  ignorePatterns: ["dist", "node_modules", ".wrangler", "test/fixtures", "worker-configuration.d.ts"],
  rules: {
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/ban-ts-comment": "error",
    "typescript/consistent-type-definitions": ["error", "interface"],
    // `import("x").T` in the place of a type would slip past the layer rules.
    "typescript/consistent-type-imports": ["error", { disallowTypeAnnotations: true }],
    "typescript/no-floating-promises": "error",
    // A fold that minds a few of many events says so by its `default`.
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "import/no-cycle": "error",
    // The layer rules match the written path, so that it has one form.
    "import/extensions": ["error", "ignorePackages"],
    "max-lines": ["error", { max: 400, skipComments: true, skipBlankLines: true }],
    "no-unused-vars": [
      "error",
      { argsIgnorePattern: "^_", varsIgnorePattern: "^_", caughtErrorsIgnorePattern: "^_" },
    ],
  },
  // Of several overrides of one rule the last that matches stands, so the general ones come first.
  overrides: [
    { files: ["src/**"], rules: { "import/no-default-export": "error" } },
    { files: ["src/worker.ts"], rules: { "import/no-default-export": "off" } },
    { files: ["src/runtime/**"], rules: { "no-console": "error" } },
    // Made by a script, and as long as the API is.
    { files: ["client/rest-types.ts"], rules: { "max-lines": "off" } },
    restrict("src/**", VENDOR_SDKS),
    restrict("src/index.ts", [
      ...deniedPaths(
        ["api", "durable", "create-worker.ts", "worker.ts", "deployment.ts"],
        "The library is portable.",
      ),
      ...PORTABLE,
      ...VENDOR_SDKS,
    ]),
    restrict("src/api/**", [
      ...STORAGE,
      ...typesOnly(deniedPaths(["durable"], "A route calls a Durable Object by RPC: import its type only.")),
      ...VENDOR_SDKS,
    ]),
    restrict("src/durable/**", [
      ...deniedPaths(
        ["api", "create-worker.ts", "worker.ts", "index.ts"],
        "Durable Objects do not know HTTP routes.",
      ),
      ...VENDOR_SDKS,
    ]),
    restrict("src/runtime/**", deniedBy({})),
    ...[...RUNTIME].map(([name, layer]) => restrict(`src/runtime/${name}/**`, deniedBy(layer, name))),
    restrict("src/tools/**", deniedBy(TOOLS)),
    restrict("client/**", SERVER),
    restrict("web/**", SERVER),
  ],
});
