import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import chromiumPackage, { inflate, setupLambdaEnvironment } from "@sparticuz/chromium";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

/** Root may not use Chromium's sandbox, and these pages are the product's own. */
const ARGUMENTS = ["--no-sandbox"];

/** Starts the browser that CHROMIUM_PATH names, or the one that the package brings along. */
export async function launchBrowser(): Promise<Browser> {
  const named = process.env["CHROMIUM_PATH"];
  const executablePath = named ?? (await chromiumPackage.executablePath());
  const start = (): Promise<Browser> => chromium.launch({ executablePath, args: ARGUMENTS });
  try {
    return await start();
  } catch (caught) {
    if (named !== undefined || !String(caught).includes("shared libraries")) throw caught;
    // A machine without NSS: the package has it, for the system that it is made for.
    await inflate(fileURLToPath(new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"))));
    setupLambdaEnvironment(join(tmpdir(), "al2023/lib"));
    return start();
  }
}
