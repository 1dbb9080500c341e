import type { ModelRequest } from "../model-provider.ts";
import { findDefinition } from "./find-definition.ts";
import { Toolbox } from "./step.ts";
import type { Step } from "./step.ts";
import { taskOf } from "./task.ts";
import type { Task } from "./task.ts";
import { hitsIn } from "./tool-text.ts";
import { trailOf } from "./trail.ts";
import type { DoneCall } from "./trail.ts";
import { codeBlock, cutLines, firstLine, withoutFields } from "./wording.ts";

const LINES_SHOWN = 200;

/** What the demo does next about the last thing that it was asked. Depends on nothing but the request. */
export function nextStep(request: ModelRequest): Step {
  const { asked, done } = trailOf(request);
  const tools = new Toolbox(request.tools);
  const task = taskOf(asked);
  if (task.kind === "unknown") return { say: introduction(tools) };
  if (task.kind === "find") return findDefinition(task.symbol, done, tools);
  const [call] = done;
  if (!call) return begin(task, tools);
  return { say: call.isError ? `That failed: ${firstLine(call.content)}` : report(task, call) };
}

type OneCallTask = Exclude<Task, { kind: "find" | "unknown" }>;

/** The one call that these tasks take. */
function begin(task: OneCallTask, tools: Toolbox): Step {
  switch (task.kind) {
    case "list":
      return tools.call("tree", task.path === null ? {} : { path: task.path }, "List the files", "I look.");
    case "search": {
      const args = { pattern: task.text, fixed: true, limit: 100 };
      return tools.call("grep", args, `Search for ${task.text}`, "I search the files.");
    }
    case "read": {
      const range = task.startLine === null ? {} : { startLine: task.startLine, endLine: task.endLine };
      return tools.call(
        "read_file",
        { path: task.path, ...range },
        `Read ${task.path}`,
        `I read ${task.path}.`,
      );
    }
    case "write": {
      const args = { path: task.path, content: task.content };
      return tools.call("write_file", args, `Write ${task.path}`, `I write ${task.path}.`);
    }
    case "edit": {
      const edit = { old: task.old, new: task.new, ...(task.all ? { all: true } : {}) };
      const args = { path: task.path, edits: [edit] };
      return tools.call("edit_file", args, `Edit ${task.path}`, `I edit ${task.path}.`);
    }
  }
}

/** What came of it. */
function report(task: OneCallTask, call: DoneCall): string {
  const shown = codeBlock(cutLines(withoutFields(call.content), LINES_SHOWN));
  switch (task.kind) {
    case "list":
      return `The files${task.path === null ? "" : ` in \`${task.path}\``}:\n\n${shown}`;
    case "search": {
      const hits = hitsIn(call.content).map((hit) => `- \`${hit.path}:${hit.line}\` ${hit.text.trim()}`);
      if (hits.length === 0) return `I found no line with \`${task.text}\`.`;
      return `Lines with \`${task.text}\`:\n\n${cutLines(hits.join("\n"), LINES_SHOWN)}`;
    }
    case "read":
      return `\`${task.path}\`:\n\n${shown}`;
    case "write":
    case "edit":
      return `${firstLine(call.content)}: \`${task.path}\``;
  }
}

/** What each tool lets the demo do. */
const ABILITIES: readonly (readonly [tool: string, ability: string])[] = [
  ["grep", "find a definition: “where is parseConfig defined?”"],
  ["grep", "search for text: “search for not found”"],
  ["tree", "list files: “what files are there?”"],
  ["read_file", "read a file: “show src/main.ts”"],
  ["write_file", "write a file: “write hello to notes.txt”"],
  ["edit_file", "edit a file: “in notes.txt replace hello by goodbye”"],
];

/** What the demo is, and what it can do with the tools at hand: nothing that it could not keep. */
function introduction(tools: Toolbox): string {
  const abilities = ABILITIES.filter(([tool]) => tools.has(tool)).map(([, ability]) => `- ${ability}`);
  const about =
    "I am light-agent's offline demo model. I work by a few fixed rules, without a language model, so I cannot " +
    "answer this.";
  if (abilities.length === 0) return `${about} This agent has none of the tools that I know how to use.`;
  return `${about} With this agent's tools I can:\n\n${abilities.join("\n")}`;
}
