import * as z from "zod";

export const textPartSchema = z.strictObject({ type: z.literal("text"), text: z.string() });

/** An image by reference: a workspace path, an artifact or an https URL, never inline bytes. */
export const imagePartSchema = z
  .strictObject({
    type: z.literal("image"),
    mediaType: z.string().regex(/^image\/[a-z0-9.+-]+$/),
    path: z.string().optional(),
    artifact: z.string().optional(),
    url: z.url({ protocol: /^https$/ }).optional(),
  })
  .refine(
    (part) => [part.path, part.artifact, part.url].filter((where) => where !== undefined).length === 1,
    {
      message: "an image has exactly one of path, artifact and url",
    },
  );

export const contentPartSchema = z.discriminatedUnion("type", [textPartSchema, imagePartSchema]);
export const contentSchema = z.array(contentPartSchema).min(1);

export type ContentPart = z.infer<typeof contentPartSchema>;
export type Content = z.infer<typeof contentSchema>;

/** One text as content. */
export function textContent(text: string): Content {
  return [{ type: "text", text }];
}

/** The text of some content; images appear as a short placeholder. */
export function textOf(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[image ${part.mediaType}]`)).join("\n");
}

/** At most `length` UTF-16 units of the text, never ending in half a surrogate pair. */
export function previewOf(content: readonly ContentPart[], length = 120): string {
  return cutText(textOf(content).replace(/\s+/g, " ").trim(), length);
}

/** The first `length` UTF-16 units of a string, one less where that would split a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
