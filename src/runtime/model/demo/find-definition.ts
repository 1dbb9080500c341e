import { definitionPattern, likelihood } from "./definition-pattern.ts";
import type { Hit } from "./tool-text.ts";
import { extensionsIn, hitsIn, isTest, numberedLinesIn } from "./tool-text.ts";
import type { DoneCall } from "./trail.ts";
import { codeBlock, firstLine } from "./wording.ts";
import type { Step, Toolbox } from "./step.ts";

/** Lines read before and after the line that is shown. */
const BEFORE = 2;
const AFTER = 12;
const OTHERS_SHOWN = 10;

/** Matches asked for: enough for the surest to be among them. */
const MATCHES = 200;
/** Kinds of files named in a search; of more kinds all files are searched. */
const KINDS = 40;

/**
 * The next step of "where is X defined?": look at the tree, search what it shows for lines that look like a definition
 * of X, read the best of them, answer with it. Each step is chosen by what the ones before gave.
 */
export function findDefinition(symbol: string, done: readonly DoneCall[], tools: Toolbox): Step {
  if (!tools.has("grep")) return tools.missing("grep");
  const tree = done.find((call) => call.name === "tree");
  if (!tree && tools.has("tree")) {
    return tools.call("tree", {}, "See which files there are", "I look at the files first.");
  }
  const searches = done.filter((call) => call.name === "grep");
  const [first, second] = searches;
  if (!first) return searchDefinition(symbol, tree, tools);
  const failed = searches.find((call) => call.isError);
  if (failed) return { say: `The search failed: ${firstLine(failed.content)}` };
  const definitions = definitionsAmong(hitsIn(first.content), symbol);
  if (definitions.length === 0 && !second) {
    const args = { pattern: symbol, fixed: true, word: true, limit: MATCHES };
    return tools.call(
      "grep",
      args,
      `Find any mention of ${symbol}`,
      "No line looks like a definition, so I search for any mention.",
    );
  }
  const hits = definitions.length > 0 ? definitions : hitsIn(second?.content ?? "");
  const [best] = hits;
  if (!best) return { say: `I found no mention of \`${symbol}\` in the files of this workspace.` };
  const read = done.find((call) => call.name === "read_file");
  if (!read && tools.has("read_file")) return readAround(best, tools);
  return { say: answer(symbol, definitions.length > 0, hits, read) };
}

/** A search in files of the kinds that the tree shows. */
function searchDefinition(symbol: string, tree: DoneCall | undefined, tools: Toolbox): Step {
  const extensions = tree && !tree.isError ? extensionsIn(tree.content) : [];
  const include = extensions.length > KINDS ? [] : extensions.map((extension) => `**/*.${extension}`);
  const args = {
    pattern: definitionPattern(symbol),
    limit: MATCHES,
    ...(include.length > 0 ? { include } : {}),
  };
  const where = include.length > 0 ? ` in files of the kinds ${extensions.join(", ")}` : "";
  const say = `Now I search for lines that look like a definition of \`${symbol}\`${where}.`;
  return tools.call("grep", args, `Find the definition of ${symbol}`, say);
}

/** Read before answering: the file may say more than the line, and it may have changed. */
function readAround(hit: Hit, tools: Toolbox): Step {
  const args = { path: hit.path, startLine: Math.max(1, hit.line - BEFORE), endLine: hit.line + AFTER };
  return tools.call(
    "read_file",
    args,
    `Read the lines around ${hit.path}:${hit.line}`,
    `I read ${hit.path}.`,
  );
}

/** The hits that may define the symbol: the surest first, then those outside tests, then those at the top level. */
function definitionsAmong(hits: readonly Hit[], symbol: string): Hit[] {
  const rank = (hit: Hit): number =>
    4 * likelihood(symbol, hit.text) + (isTest(hit.path) ? 0 : 2) + (/^\s/.test(hit.text) ? 0 : 1);
  const likely = hits.filter((hit) => likelihood(symbol, hit.text) > 0);
  return likely.sort((left, right) => rank(right) - rank(left));
}

/** The best hit with its code, then the others by their places. */
function answer(symbol: string, defines: boolean, hits: readonly Hit[], read: DoneCall | undefined): string {
  const [best, ...others] = hits;
  if (!best) return "";
  const place = `\`${best.path}:${best.line}\``;
  const verb = likelihood(symbol, best.text) === 2 ? "is defined" : "seems to be defined";
  const verdict = defines
    ? `\`${symbol}\` ${verb} in ${place}:`
    : `I found no line that looks like a definition of \`${symbol}\`. It is mentioned in ${place}:`;
  const listed = others
    .slice(0, OTHERS_SHOWN)
    .map((hit) => `- \`${hit.path}:${hit.line}\` ${hit.text.trim()}`);
  const more = others.length - listed.length;
  const also = defines ? "Other lines that look like a definition:" : "It is also mentioned here:";
  return [
    verdict,
    codeBlock(linesOf(best, read)),
    ...(listed.length > 0 ? [[also, ...listed, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n")] : []),
  ].join("\n\n");
}

/** The lines that were read, if they hold the line that was found; else that line as the search gave it. */
function linesOf(hit: Hit, read: DoneCall | undefined): string {
  const lines = read && !read.isError && read.args["path"] === hit.path ? numberedLinesIn(read.content) : [];
  const around = lines.filter(({ line }) => line >= hit.line - BEFORE && line <= hit.line + AFTER);
  const holdsIt = around.some(({ line, text }) => line === hit.line && text.includes(hit.text.trim()));
  if (!holdsIt) return `${hit.line} | ${hit.text}`;
  return around.map(({ line, text }) => `${line} | ${text}`).join("\n");
}
