import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// Where the page goes is said by scripts/build-web.ts.
export default defineConfig({ plugins: [preact()] });
