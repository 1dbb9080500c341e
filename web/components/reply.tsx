import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { markdownBlocks, sanitize } from "../markdown.ts";

interface ReplyProps {
  readonly text: string;
  /** Whether the text was cut off. */
  readonly interrupted?: boolean;
}

/** What the model says, as Markdown. */
export function Reply({ text, interrupted = false }: ReplyProps): VNode {
  const blocks = useMemo(() => markdownBlocks(text), [text]);
  return (
    <div class="reply">
      {blocks ? blocks.map((html, index) => <Block key={index} html={html} />) : <p class="plain">{text}</p>}
      {interrupted && <p class="note">The reply was cut off here.</p>}
    </div>
  );
}

/** One block of Markdown: sanitized and drawn once, however often the text after it grows. */
function Block({ html }: { readonly html: string }): VNode {
  return useMemo(() => <div class="block" dangerouslySetInnerHTML={{ __html: sanitize(html) }} />, [html]);
}
