import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { blockKey } from "../../client/index.ts";
import type { SessionSnapshot, SessionStore, Turn } from "../../client/index.ts";
import type { PartialBlock } from "../../src/runtime/protocol/frames.ts";
import { errorText } from "../wording.ts";
import { EntryView } from "./entry-view.tsx";
import { Reply } from "./reply.tsx";
import { Thought } from "./thought.tsx";

/** So near to the end counts as reading the end, in pixels. */
const NEAR = 48;

interface ConversationProps {
  readonly session: SessionSnapshot;
  readonly store: SessionStore;
}

/** All turns. It keeps to its end while the reader is there, and leaves who reads further up in peace. */
export function Conversation({ session, store }: ConversationProps): VNode {
  const { turns, view, progress, deciding, connection, given } = session;
  const scroller = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  // Who prompts wants to see what comes of it.
  useLayoutEffect(() => setFollows(true), [given]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && follows) element.scrollTop = element.scrollHeight;
  });
  const last = turns.at(-1);
  const isEmpty = turns.length === 0 && session.unsent.length === 0;
  return (
    <div class="scroll-frame">
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-busy={last?.running ?? false}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollows(scrollHeight - scrollTop - clientHeight < NEAR)
        }
      >
        {isEmpty && connection.status === "live" && <Beginning />}
        {isEmpty && connection.status !== "live" && connection.status !== "ended" && (
          <p class="hint">Loading the conversation…</p>
        )}
        {turns.map((turn) => (
          <TurnView
            key={turn.turn}
            turn={turn}
            blocks={turn === last ? view.blocks : NO_BLOCKS}
            progress={turn === last ? progress : NO_PROGRESS}
            deciding={turn === last ? deciding : NOTHING_DECIDED}
            store={store}
          />
        ))}
        {last?.running && <Activity session={session} turn={last} />}
      </div>
      {!follows && (
        <button type="button" class="to-end" onClick={() => setFollows(true)}>
          ↓ To the end
        </button>
      )}
    </div>
  );
}

const NO_BLOCKS: readonly PartialBlock[] = [];
const NO_PROGRESS: SessionSnapshot["progress"] = new Map();
const NOTHING_DECIDED: SessionSnapshot["deciding"] = new Set();

interface TurnViewProps {
  readonly turn: Turn;
  readonly blocks: readonly PartialBlock[];
  readonly progress: SessionSnapshot["progress"];
  readonly deciding: SessionSnapshot["deciding"];
  readonly store: SessionStore;
}

/** One turn. It is drawn anew only when it has changed, so that a long conversation costs nothing while it grows. */
function TurnView({ turn, blocks, progress, deciding, store }: TurnViewProps): VNode {
  return useMemo(() => {
    const ordered = [...blocks].sort((left, right) => left.block - right.block);
    return (
      <section class="turn" aria-label={`Turn ${turn.turn}`}>
        {turn.entries.map((entry) => (
          <EntryView
            key={entry.key}
            entry={entry}
            progress={entry.kind === "call" ? progress.get(entry.call.id) : undefined}
            deciding={deciding}
            store={store}
          />
        ))}
        {ordered.map((block) => (
          <LiveBlock key={blockKey(block)} block={block} />
        ))}
      </section>
    );
  }, [turn, blocks, progress, deciding, store]);
}

function LiveBlock({ block }: { readonly block: PartialBlock }): VNode | null {
  if (block.kind === "text") return <Reply text={block.text} />;
  if (block.kind === "thought") return <Thought text={block.text} live />;
  return null;
}

/** What the running turn is at while nothing else shows it. */
function Activity({
  session,
  turn,
}: {
  readonly session: SessionSnapshot;
  readonly turn: Turn;
}): VNode | null {
  const { trouble, stopping, view } = session;
  if (stopping === turn.turn) return <p class="activity">Stopping…</p>;
  if (trouble) {
    return (
      <p class="activity trouble">
        {trouble.retrying ? `${trouble.message} Trying again…` : errorText(trouble)}
      </p>
    );
  }
  const isBusy = turn.entries.some((entry) => entry.kind === "call" && entry.result === null);
  if (isBusy || view.blocks.length > 0) return null;
  return <p class="activity">Waiting for the model…</p>;
}

function Beginning(): VNode {
  return (
    <div class="empty">
      <h3>What do you want to know?</h3>
      <p class="hint">
        Give the agent files first: drop a folder on the list of files, or use its button “Upload folder”.
        Then ask, for instance <q>Where is parseConfig defined?</q>
      </p>
    </div>
  );
}
