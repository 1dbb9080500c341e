/** Text in a fence that it cannot close. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** The first line with something in it, without its label: what a tool says of its failure. */
export function firstLine(text: string): string {
  const line = text.split(/\r?\n/).find((candidate) => candidate.trim() !== "");
  return line?.trim().replace(/^\[\w+\] /, "") ?? "the tool gave no reason.";
}

/** A tool's result without the fields (`[label] value`) around its content. */
export function withoutFields(text: string): string {
  const lines = text.split(/\r?\n/);
  return lines.filter((line) => !/^\[[a-z_]+\](?: |$)/.test(line)).join("\n");
}

/** At most so many lines, with a note of what is missing. */
export function cutLines(text: string, most: number): string {
  const lines = text.trimEnd().split(/\r?\n/);
  if (lines.length <= most) return lines.join("\n");
  return [...lines.slice(0, most), `… and ${lines.length - most} more lines`].join("\n");
}
