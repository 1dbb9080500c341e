import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { blockKey } from "../../client/index.ts";
import type { Entry, SessionSnapshot, SessionStore, Turn } from "../../client/index.ts";
import type { PartialBlock } from "../../src/runtime/protocol/frames.ts";
import type { SessionInspector } from "../session-inspector.ts";
import { EntryView } from "./entry-view.tsx";
import { Reply } from "./reply.tsx";
import { Thought } from "./thought.tsx";

interface TurnViewProps {
  readonly turn: Turn;
  readonly from: number;
  readonly to: number;
  /** Whether the conversation was taken back to before it. */
  readonly undone: boolean;
  readonly blocks: readonly PartialBlock[];
  readonly progress: SessionSnapshot["progress"];
  readonly deciding: SessionSnapshot["deciding"];
  readonly store: SessionStore;
  readonly inspector: SessionInspector;
}

/** One turn, and what happened between it and the next. It is drawn anew only when it has changed, so that a long conversation costs nothing while it grows. */
export function TurnView({
  turn,
  from,
  to,
  undone,
  blocks,
  progress,
  deciding,
  store,
  inspector,
}: TurnViewProps): VNode {
  return useMemo(() => {
    const ordered = [...blocks].sort((left, right) => left.block - right.block);
    const stop = turn.entries.findIndex(({ kind }) => kind === "stop");
    const end = stop < 0 ? turn.entries.length : stop + 1;
    const draw = (entry: Entry): VNode => (
      <EntryView
        key={entry.key}
        entry={entry}
        progress={entry.kind === "call" ? progress.get(entry.call.id) : undefined}
        deciding={deciding}
        store={store}
      />
    );
    const after = turn.entries.slice(Math.max(from, end), to);
    return (
      <>
        {from < end && (
          <section class={undone ? "turn undone" : "turn"} aria-label={`Turn ${turn.turn}`}>
            {undone && from === 0 && <p class="label">No longer part of the conversation</p>}
            {turn.entries.slice(from, Math.min(end, to)).map(draw)}
            {ordered.map((block) => (
              <LiveBlock key={blockKey(block)} block={block} />
            ))}
            {stop >= 0 && to >= end && <TraceLink turn={turn.turn} inspector={inspector} />}
          </section>
        )}
        {after.length > 0 && <div class="between">{after.map(draw)}</div>}
      </>
    );
  }, [turn, from, to, undone, blocks, progress, deciding, store, inspector]);
}

interface TraceLinkProps {
  readonly turn: number;
  readonly inspector: SessionInspector;
}

function TraceLink({ turn, inspector }: TraceLinkProps): VNode {
  return (
    <button
      type="button"
      class="trace-link"
      aria-label={`Trace of turn ${turn}`}
      onClick={() => inspector.show({ kind: "trace", turn })}
    >
      Trace
    </button>
  );
}

function LiveBlock({ block }: { readonly block: PartialBlock }): VNode | null {
  if (block.kind === "text") return <Reply text={block.text} />;
  if (block.kind === "thought") return <Thought text={block.text} live />;
  return null;
}
