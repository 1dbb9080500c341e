import { RestClient } from "../../client/index.ts";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser } from "./browser.ts";
import { ModelServer } from "./model-server.ts";
import type { FakeReply } from "./model-server.ts";
import { ProductProcess } from "./product-process.ts";
import { watchPage } from "./watch-page.ts";

/** The product, a fake model behind it, and a browser before it. */
export class PageRig {
  readonly product: ProductProcess;
  readonly #model: ModelServer;
  readonly #browser: Browser;
  #close: (() => Promise<void>)[] = [];
  #offences: string[] = [];

  private constructor(model: ModelServer, product: ProductProcess, browser: Browser) {
    this.#model = model;
    this.product = product;
    this.#browser = browser;
  }

  /** @param answer What the model says to the last prompt, by how many tool results have followed it */
  static async start(answer: (prompt: string, results: number) => FakeReply): Promise<PageRig> {
    const model = await ModelServer.start(({ messages }) => {
      const prompt = messages.findLast(({ role }) => role === "user");
      const since = messages.slice(prompt ? messages.lastIndexOf(prompt) : 0);
      return answer(
        JSON.stringify(prompt?.content ?? ""),
        since.filter(({ role }) => role === "tool").length,
      );
    });
    const product = new ProductProcess({
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: "fake",
    });
    const [browser] = await Promise.all([launchBrowser(), product.start()]);
    return new PageRig(model, product, browser);
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.product.stop();
    await this.#model.stop();
  }

  get rest(): RestClient {
    return new RestClient({ url: this.product.url, credential: this.product.key });
  }

  /** A page of its own that shows a session, signed in by link. */
  async open(session: string, options: BrowserContextOptions = {}, key = this.product.key): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    this.#close.push(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    watchPage(page, this.product.url, this.#offences);
    await page.goto(`${this.product.url}/#key=${key}&session=${session}`);
    await page.getByText("Connected").waitFor();
    return page;
  }

  /** Closes what was opened; gives what pages did that none may do. */
  async closePages(): Promise<string[]> {
    for (const close of this.#close.splice(0)) await close();
    return this.#offences.splice(0);
  }
}

/** Types a prompt and sends it. */
export async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel("Prompt", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}
