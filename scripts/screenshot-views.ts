import type { FakeReply } from "../test/e2e/model-server.ts";

/** The windows of the pictures, in CSS pixels. */
export const SIZES = {
  wide: { viewport: { width: 1280, height: 760 }, hasTouch: false },
  phone: { viewport: { width: 390, height: 780 }, hasTouch: true },
} as const;
export type Size = keyof typeof SIZES;

/** A conversation that the pictures show: what is asked, and what the fake model answers, call by call. */
export interface Scene {
  readonly title: string;
  readonly prompt: string;
  readonly replies: readonly FakeReply[];
  /** The status in which the session is shown. */
  readonly until: "idle" | "running" | "waiting";
}

/** One view of the page: each is taken in light and dark. */
export interface View {
  /** A part of the file's name. */
  readonly name: string;
  /** The title of the scene whose session is open; null before signing in. */
  readonly scene: string | null;
  /** The part of the page that a phone shows. */
  readonly pane: "Sessions" | "Conversation" | "Files";
  /** Names of buttons that are clicked before, in this order. */
  readonly clicks: readonly RegExp[];
  readonly sizes: readonly Size[];
}

/** The files of the workspace. */
export const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Shop\n\nPrices and carts.\n",
  "src/cart.ts":
    'import { price } from "./price.ts";\n\n/** What a cart costs, in cents. */\nexport function cartTotal(items: readonly string[]): number {\n  return items.reduce((sum, item) => sum + price(item), 0);\n}\n',
  "src/price.ts":
    "const PRICES: Record<string, number> = { tea: 350, coffee: 420 };\n\n/** The price of an item, in cents; 0 for an unknown one. */\nexport function price(item: string): number {\n  return PRICES[item] ?? 0;\n}\n",
  "test/cart.test.ts":
    'import { expect, it } from "vitest";\nimport { cartTotal } from "../src/cart.ts";\n\nit("sums up", () => expect(cartTotal(["tea", "tea"])).toBe(700));\n',
};

const THOUGHT = "The total is computed in one place; I look where prices come from before I say anything.";

/** The last one is the newest of the list. */
export const SCENES: readonly Scene[] = [
  {
    title: "Where is the total computed?",
    prompt: "Where is the total of a cart computed, and what happens with an unknown item?",
    until: "idle",
    replies: [
      {
        thought: [THOUGHT],
        calls: [
          { name: "grep", args: { _intent: "Find the total", pattern: "cartTotal", include: ["*.ts"] } },
          { name: "read_file", args: { _intent: "See where prices come from", path: "src/price.ts" } },
        ],
      },
      {
        text: [
          "`cartTotal` in `src/cart.ts:4` adds up the price of each item.\n\n",
          "An **unknown item costs nothing**, because of `?? 0` in `src/price.ts:5`:\n\n",
          "```ts\nreturn PRICES[item] ?? 0;\n```\n\n",
          "| item | price |\n|---|---|\n| tea | 350 |\n| coffee | 420 |\n| anything else | 0 |\n\n",
          "If that is not what you want, I can make it an error instead.",
        ],
        usage: { prompt_tokens: 2_310, completion_tokens: 96 },
      },
    ],
  },
  {
    title: "Refuse unknown items",
    prompt: "Make an unknown item an error.",
    until: "waiting",
    replies: [
      {
        text: ["I change `price` so that it throws. It needs your permission."],
        calls: [
          {
            name: "edit_file",
            args: {
              _intent: "An unknown item becomes an error",
              path: "src/price.ts",
              edits: [
                {
                  old: "  return PRICES[item] ?? 0;",
                  new: "  const cents = PRICES[item];\n  if (cents === undefined) throw new RangeError(`no item ${item}`);\n  return cents;",
                },
              ],
            },
          },
        ],
      },
    ],
  },
];

const BOTH = ["wide", "phone"] as const;

/** What stands beside the first conversation. */
function panel(name: string, button: RegExp): View {
  return { name, scene: SCENES[0]?.title ?? "", pane: "Conversation", clicks: [button], sizes: BOTH };
}

/** What an admin sees. */
function manage(name: string, clicks: readonly RegExp[]): View {
  const scene = SCENES[0]?.title ?? "";
  return { name, scene, pane: "Sessions", clicks: [/^Manage$/, ...clicks], sizes: BOTH };
}

const VIEWS: readonly View[] = [
  { name: "sign-in", scene: null, pane: "Conversation", clicks: [], sizes: BOTH },
  // A wide window shows them beside everything else.
  { name: "sessions", scene: SCENES[0]?.title ?? "", pane: "Sessions", clicks: [], sizes: ["phone"] },
  { name: "conversation", scene: SCENES[0]?.title ?? "", pane: "Conversation", clicks: [], sizes: BOTH },
  panel("trace", /^Trace of turn 1/),
  panel("checkpoints", /^Checkpoints/),
  panel("context", /^Context/),
  { name: "approval", scene: SCENES[1]?.title ?? "", pane: "Conversation", clicks: [], sizes: BOTH },
  {
    name: "file",
    scene: SCENES[0]?.title ?? "",
    pane: "Files",
    clicks: [/src 2 files/, /price\.ts/],
    sizes: BOTH,
  },
  manage("agents", [/^coder/]),
  manage("keys", [/^Keys$/]),
  manage("usage", [/^Usage$/]),
];

const SCHEMES = ["light", "dark"] as const;

/** Of one picture, in bytes: they are a part of every clone. */
export const PICTURE_BYTES = 150_000;

/** The folder of the pictures. */
export const FOLDER = "docs/screenshots";

export interface Picture {
  readonly file: string;
  readonly view: View;
  readonly size: Size;
  readonly scheme: (typeof SCHEMES)[number];
}

export const PICTURES: readonly Picture[] = VIEWS.flatMap((view) =>
  view.sizes.flatMap((size) =>
    SCHEMES.map((scheme) => ({ file: `${view.name}-${size}-${scheme}.png`, view, size, scheme })),
  ),
);
