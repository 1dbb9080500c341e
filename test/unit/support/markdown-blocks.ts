/** A fenced block of a Markdown page. */
export interface MarkdownBlock {
  /** What stands behind the opening fence, for instance `sh`. */
  readonly language: string;
  /** Without the line break at its end. */
  readonly text: string;
  /** The headings above it, the outermost first. */
  readonly headings: readonly string[];
}

/** The fenced blocks of a page, in order. */
export function markdownBlocks(page: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let headings: string[] = [];
  let open: { language: string; lines: string[] } | null = null;
  for (const line of page.split("\n")) {
    const fence = /^```(\S*)$/.exec(line);
    const heading = /^(#+) (.+)$/.exec(line);
    if (open && fence) {
      blocks.push({ language: open.language, text: open.lines.join("\n"), headings });
      open = null;
    } else if (open) open.lines.push(line);
    else if (fence) open = { language: fence[1] ?? "", lines: [] };
    else if (heading) headings = [...headings.slice(0, (heading[1]?.length ?? 1) - 1), heading[2] ?? ""];
  }
  if (open) throw new Error(`A block of ${open.language} does not end.`);
  return blocks;
}

/** What a printed text has to be: each `…` stands for anything. */
export function printedLike(expected: string): RegExp {
  const parts = expected.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^]*?")}$`);
}
