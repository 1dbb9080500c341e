import type { VNode } from "preact";
import type { Entry, SessionSnapshot, SessionStore } from "../../client/index.ts";
import type { LiveEvent } from "../../src/runtime/protocol/live-events.ts";
import type { Content } from "../../src/runtime/protocol/content.ts";
import { errorText, restoreText, stopText } from "../wording.ts";
import { Reply } from "./reply.tsx";
import { Thought } from "./thought.tsx";
import { ToolCallCard } from "./tool-call-card.tsx";

interface EntryViewProps {
  readonly entry: Entry;
  readonly progress: LiveEvent<"tool_progress"> | undefined;
  readonly deciding: SessionSnapshot["deciding"];
  readonly store: SessionStore | null;
}

/** One thing that was said or done. */
export function EntryView({ entry, progress, deciding, store }: EntryViewProps): VNode | null {
  switch (entry.kind) {
    case "prompt":
      return <Prompt entry={entry} />;
    case "thought":
      return <Thought text={entry.text} live={false} />;
    case "output":
      return <Reply text={entry.text} interrupted={entry.interrupted} />;
    case "call":
      return <ToolCallCard entry={entry} progress={progress} deciding={deciding} store={store} />;
    case "error":
      return (
        <p class="note failure">
          {errorText(entry)} <code>{entry.code}</code>
        </p>
      );
    case "stop":
      return <Note text={stopText(entry)} />;
    case "summary":
      return <Summary entry={entry} />;
    case "background":
      return <Note text={`In the background: ${entry.label} (${entry.status})`} />;
    case "restore":
      return (
        <p class="mark">
          <span class="rule">{restoreText(entry)}</span>
        </p>
      );
  }
}

/** Where the model's input was made smaller; the summary itself unfolds. */
function Summary({ entry }: { readonly entry: Extract<Entry, { kind: "summary" }> }): VNode {
  const { text, before, after } = entry;
  return (
    <details class="mark">
      <summary class="rule">
        Summarised for the model: {before.toLocaleString("en")} tokens became {after.toLocaleString("en")}
      </summary>
      <p class="plain">{text}</p>
    </details>
  );
}

function Note({ text }: { readonly text: string | null }): VNode | null {
  return text === null ? null : <p class="note">{text}</p>;
}

const ENTERED = { input: null, steer: "Steered", follow_up: "Followed up" } as const;

function Prompt({ entry }: { readonly entry: Extract<Entry, { kind: "prompt" }> }): VNode {
  const label = entry.source === "user" ? ENTERED[entry.entered] : "From the system";
  return (
    <div class="prompt">
      {label && <span class="label">{label}</span>}
      <PromptContent content={entry.content} />
    </div>
  );
}

function PromptContent({ content }: { readonly content: Content }): VNode {
  return (
    <>
      {content.map((part, index) => (
        <p key={index}>{part.type === "text" ? part.text : `[image ${part.path ?? part.mediaType}]`}</p>
      ))}
    </>
  );
}
