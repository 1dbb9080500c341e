import type { Page } from "playwright-core";

/** Notes what no page may do: errors on its console, requests to another origin, dialogs. */
export function watchPage(page: Page, origin: string, offences: string[]): void {
  page.on("console", (message) => message.type() === "error" && offences.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => offences.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) offences.push(`request: ${url}`);
  });
  page.on("dialog", (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}
