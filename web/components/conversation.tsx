import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { undoneTurns } from "../../client/index.ts";
import type { SessionSnapshot, SessionStore, Turn } from "../../client/index.ts";
import type { PartialBlock } from "../../src/runtime/protocol/frames.ts";
import { countEntries, indexOf, placeOf, sliceTurns } from "../turn-window.ts";
import type { EntryPlace } from "../turn-window.ts";
import type { SessionInspector } from "../session-inspector.ts";
import { errorText } from "../wording.ts";
import { TurnView } from "./turn-view.tsx";

/** So near to the end counts as reading the end, in pixels. */
const NEAR = 48;
/** So near to the edge of what is drawn, in pixels, more is drawn. */
const EDGE = 600;
/** Entries that are drawn at most, and by how many the window moves. */
const WINDOW = 160;
const STEP = 25;

interface ConversationProps {
  readonly session: SessionSnapshot;
  readonly store: SessionStore;
  readonly inspector: SessionInspector;
}

/**
 * The turns. It keeps to the end while the reader is there, and leaves who reads further up in peace. However long the
 * conversation is, only a window of it is drawn, which moves with the reader.
 */
export function Conversation({ session, store, inspector }: ConversationProps): VNode {
  const { turns, view, progress, deciding, connection, given, older } = session;
  const scroller = useRef<HTMLDivElement>(null);
  /** The first entry that is drawn; null while the reader is at the end. */
  const [top, setTop] = useState<EntryPlace | null>(null);
  const [follows, setFollows] = useState(true);
  /** What the reader looks at, and where on the screen it was before the window moved to a place. */
  const anchor = useRef<(Anchor & { readonly place: EntryPlace }) | null>(null);
  const scrolled = useRef(0);
  const hadFocus = useRef(false);
  /** Whether the reader waits for older turns. */
  const wantsOlder = useRef(false);

  const total = countEntries(turns);
  const from = Math.max(0, follows || !top ? total - WINDOW : indexOf(turns, top));
  const to = Math.min(total, from + WINDOW);

  function moveTo(index: number): void {
    const place = placeOf(turns, Math.max(0, index));
    const seen = anchorOf(scroller.current);
    anchor.current = seen && { ...seen, place };
    setTop(place);
    setFollows(false);
  }

  function showOlder(): void {
    if (from > 0) return moveTo(from - STEP);
    wantsOlder.current = true;
    void store.loadOlder();
  }

  function onScroll({ scrollTop, scrollHeight, clientHeight }: HTMLElement): void {
    const moved = scrollTop - scrolled.current;
    scrolled.current = scrollTop;
    const below = scrollHeight - scrollTop - clientHeight;
    if (to === total && below < NEAR) return setFollows(true);
    if (follows) {
      setTop(placeOf(turns, from));
      setFollows(false);
    }
    if (moved < 0 && scrollTop < EDGE && (from > 0 || older === "some")) showOlder();
    if (moved > 0 && below < EDGE && to < total) moveTo(Math.min(from + STEP, total - WINDOW));
  }

  // Who prompts wants to see what comes of it.
  useLayoutEffect(() => setFollows(true), [given]);
  useLayoutEffect(() => {
    if (!wantsOlder.current || from === 0) return;
    wantsOlder.current = false;
    moveTo(from - STEP);
  }, [from]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const kept = anchor.current;
    if (follows) element.scrollTop = element.scrollHeight;
    else if (kept?.place === top && kept.element.isConnected) {
      element.scrollTop += kept.element.getBoundingClientRect().top - kept.top;
      anchor.current = null;
    }
    scrolled.current = element.scrollTop;
    // The focus stays here when what had it is no longer drawn.
    if (hadFocus.current && document.activeElement === document.body) element.focus({ preventScroll: true });
    hadFocus.current = element.contains(document.activeElement);
  });

  const undone = useMemo(() => undoneTurns(turns), [turns]);
  const last = turns.at(-1);
  const isEmpty = turns.length === 0 && session.unsent.length === 0;
  const atEnd = to === total;
  return (
    <div class="scroll-frame">
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        // What comes into the window at its edges is no news.
        aria-live={follows ? "polite" : "off"}
        aria-busy={last?.running ?? false}
        onScroll={({ currentTarget }) => onScroll(currentTarget)}
      >
        {isEmpty && connection.status === "live" && <Beginning />}
        {isEmpty && connection.status !== "live" && connection.status !== "ended" && (
          <p class="hint">Loading the conversation…</p>
        )}
        {(from > 0 || older !== "none") && (
          <p class="older">
            <button type="button" class="quiet" onClick={showOlder}>
              {older === "loading" ? "Loading older messages…" : "Show older messages"}
            </button>
          </p>
        )}
        {sliceTurns(turns, from, to).map(({ turn, ...slice }) => (
          <TurnView
            key={turn.turn}
            turn={turn}
            {...slice}
            undone={undone.has(turn.turn)}
            blocks={turn === last && atEnd ? view.blocks : NO_BLOCKS}
            progress={turn === last ? progress : NO_PROGRESS}
            deciding={turn === last ? deciding : NOTHING_DECIDED}
            store={store}
            inspector={inspector}
          />
        ))}
        {last?.running && atEnd && <Activity session={session} turn={last} />}
      </div>
      {!follows && (
        <button type="button" class="to-end" onClick={() => setFollows(true)}>
          ↓ To the end
        </button>
      )}
    </div>
  );
}

interface Anchor {
  readonly element: Element;
  readonly top: number;
}

/** The first thing on the screen, and where it is. */
function anchorOf(scroller: HTMLElement | null): Anchor | null {
  if (!scroller) return null;
  const edge = scroller.getBoundingClientRect().top;
  for (const element of scroller.querySelectorAll(".turn > *, .between > *")) {
    const { top, bottom } = element.getBoundingClientRect();
    if (bottom > edge) return { element, top };
  }
  return null;
}

const NO_BLOCKS: readonly PartialBlock[] = [];
const NO_PROGRESS: SessionSnapshot["progress"] = new Map();
const NOTHING_DECIDED: SessionSnapshot["deciding"] = new Set();

/** What the running turn is at while nothing else shows it. */
function Activity({
  session,
  turn,
}: {
  readonly session: SessionSnapshot;
  readonly turn: Turn;
}): VNode | null {
  const { trouble, stopping, view, summarising } = session;
  if (stopping === turn.turn) return <p class="activity">Stopping…</p>;
  if (summarising) return <p class="activity">Summarising earlier messages…</p>;
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
