/**
 * An image by its address, to be checked as a part of a prompt's content. Chat protocols may name no more than the kind
 * (`image`, `image/*`): what it is exactly, models read from the image itself.
 */
export function imagePart(url: unknown, mediaType: unknown): unknown {
  const named = typeof mediaType === "string" && !/^image(\/\*)?$/.test(mediaType);
  return { type: "image", mediaType: named ? mediaType : "image/png", url };
}
