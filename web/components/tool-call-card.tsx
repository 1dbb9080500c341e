import type { VNode } from "preact";
import type { Entry, SessionSnapshot, SessionStore } from "../../client/index.ts";
import type { LiveEvent } from "../../src/runtime/protocol/live-events.ts";
import { callText, durationText } from "../wording.ts";
import { RequestForm } from "./request-form.tsx";

interface ToolCallCardProps {
  readonly entry: Extract<Entry, { kind: "call" }>;
  readonly progress: LiveEvent<"tool_progress"> | undefined;
  readonly deciding: SessionSnapshot["deciding"];
  readonly store: SessionStore | null;
}

/** A tool call: what is done and why in one or two lines, arguments and result when it is unfolded. */
export function ToolCallCard({ entry, progress, deciding, store }: ToolCallCardProps): VNode {
  const { call, status, request, result } = entry;
  const args = call.malformed ?? oneLine(call.args);
  const details = (
    <details class={`call ${status}`}>
      <summary>
        <span class="line">
          <code class="name">{call.name}</code>
          {call.intent && <span class="intent">{call.intent}</span>}
          <span class={`state ${status}`}>
            {callText(status)}
            {result && <span class="duration">{durationText(result.durationMs)}</span>}
          </span>
        </span>
        {args && <code class="args">{args}</code>}
        {status === "running" && progress && <span class="progress">{progressText(progress)}</span>}
        {result?.isError && <span class="failure">{firstLine(result.content)}</span>}
      </summary>
      <h4>Arguments</h4>
      <pre tabIndex={0}>{call.malformed ?? JSON.stringify(call.args, null, 2)}</pre>
      <h4>Result{result?.code && ` (${result.code})`}</h4>
      {result ? <pre tabIndex={0}>{result.content}</pre> : <p class="hint">Not there yet.</p>}
    </details>
  );
  if (!request || !store) return details;
  const id = request.kind === "approval" ? request.approvalId : request.inputId;
  return (
    <div class="asked">
      {details}
      <RequestForm key={id} call={call} request={request} deciding={deciding.has(id)} store={store} />
    </div>
  );
}

/** `path: src/a.ts · limit: 5` */
function oneLine(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ")
    .slice(0, 300);
}

/** What went wrong; the built-in tools put `[what]` before it. */
function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.replace(/^\[what\] /, "").slice(0, 300);
}

function progressText({ message, completed, total }: LiveEvent<"tool_progress">): string {
  const count = completed === undefined ? "" : `${completed}${total === undefined ? "" : ` of ${total}`}`;
  return [message, count].filter(Boolean).join(" · ");
}
