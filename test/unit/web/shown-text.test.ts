import { expect, it } from "vitest";
import { readShownText } from "../../../web/shown-text.ts";
import type { ShownText } from "../../../web/shown-text.ts";

const SHOWN = 512 * 1024;

/** What is shown of a file. */
function shownOf(bytes: Uint8Array<ArrayBuffer>): Promise<ShownText> {
  const readFile = (_workspace: string, _path: string, maxBytes?: number) =>
    Promise.resolve(new Blob([bytes.slice(0, maxBytes)]));
  return readShownText({ readFile }, "w", { path: "a", size: bytes.length });
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

it("[WEB-11] a text is shown as it is", async () => {
  expect(await shownOf(encode("héllo\n"))).toEqual({ text: "héllo\n", cut: false });
  expect(await shownOf(encode(""))).toEqual({ text: "", cut: false });
});

it("[WEB-11] a long text is cut, also through a character", async () => {
  const { text, cut } = await shownOf(encode(`${"x".repeat(SHOWN - 1)}é and more`));
  expect(text).toBe("x".repeat(SHOWN - 1));
  expect(cut).toBe(true);
});

it("[WEB-11] what is not text is not shown as text", async () => {
  expect((await shownOf(new Uint8Array([65, 0, 66]))).text).toBeNull();
  expect((await shownOf(new Uint8Array([0xff, 0xfe, 65]))).text).toBeNull();
});
