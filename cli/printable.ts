/** Control characters but tab and line feed. */
const CONTROLS = /[\p{Cc}--[\t\n]]/gv;

/** A text of somebody else's that cannot steer the terminal. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, "");
}
