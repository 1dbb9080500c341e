import { mkdirSync } from "node:fs";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { outsideWorld } from "./test/workerd/outside-world.ts";

// The Worker's assets folder has to exist, be the page built or not.
mkdirSync("dist/web", { recursive: true });

export default defineConfig({
  test: {
    // One after another, the quick ones first. From 1 on: files of group 0 may be put last.
    projects: [
      {
        test: {
          name: "unit",
          // Nothing asserts time: these only end what hangs, on a machine that may be busy with other work.
          testTimeout: 60_000,
          include: ["test/unit/**/*.test.ts", "test/conformance/**/*.test.ts"],
          maxWorkers: "100%",
          sequence: { groupOrder: 1 },
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              // All settings, so that nobody's own .dev.vars changes a test.
              bindings: {
                ROOT_KEY: "root-key-of-the-tests",
                SIGNING_KEY: "signing-key-of-the-tests-0123456789abcdef",
                ENCRYPTION_KEY: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
                ALLOWED_ORIGINS: "https://app.example.com",
                OPENAI_API_KEY: "sk-test",
                OPENAI_BASE_URL: "http://model.test/v1",
                OPENAI_MODEL: "scripted",
              },
              outboundService: { node: outsideWorld },
            },
          }),
        ],
        test: {
          name: "workerd",
          include: ["test/workerd/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          // Not less isolated: without it the files of a run share the objects' storage.
          isolate: true,
          maxWorkers: "100%",
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
