import type { TargetedKeyboardEvent, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SessionSnapshot } from "../../client/index.ts";
import type { PromptMode } from "../../src/runtime/protocol/frames.ts";
import type { App } from "../app.ts";

interface ComposerProps {
  readonly session: SessionSnapshot;
  readonly draft: string;
  readonly app: App;
}

/** What can become of a prompt while a turn runs. */
const MODES: readonly { readonly mode: PromptMode; readonly label: string; readonly hint: string }[] = [
  { mode: "queue", label: "Queue", hint: "runs after this turn" },
  { mode: "steer", label: "Steer", hint: "is read before the next step" },
  { mode: "interrupt", label: "Interrupt", hint: "stops this turn" },
];

/** The box for the next prompt. Enter sends, Shift+Enter begins a new line. */
export function Composer({ session, draft, app }: ComposerProps): VNode {
  const box = useRef<HTMLTextAreaElement>(null);
  const [mode, setMode] = useState<PromptMode>("queue");
  const last = session.turns.at(-1);
  const running = last?.running ?? false;
  // What stands in the box now: it may be ahead of what was drawn last.
  const send = (): void => {
    app.send(box.current?.value ?? "", running ? mode : "queue");
    // What stops others is chosen each time.
    if (mode === "interrupt") setMode("queue");
  };
  useLayoutEffect(() => grow(box.current), [draft]);

  function pressed(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
    // Enter that ends a composition (Japanese, Chinese) chooses a word.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {running && (
        <fieldset class="modes">
          <legend>While the agent works, your prompt</legend>
          {MODES.map((choice) => (
            <label key={choice.mode} title={choice.hint}>
              <input
                type="radio"
                name="mode"
                value={choice.mode}
                checked={mode === choice.mode}
                onChange={() => setMode(choice.mode)}
              />
              {choice.label}
              <span class="hint">{choice.hint}</span>
            </label>
          ))}
        </fieldset>
      )}
      <div class="box">
        <textarea
          ref={box}
          aria-label="Prompt"
          placeholder="Ask something"
          rows={1}
          value={draft}
          onInput={({ currentTarget }) => app.draft(currentTarget.value)}
          onKeyDown={pressed}
        />
        {running && (
          <button
            type="button"
            class="stop"
            disabled={session.stopping === last?.turn}
            onClick={() => void app.session?.stop()}
          >
            Stop
          </button>
        )}
        <button type="submit" class="primary" disabled={draft.trim() === ""}>
          Send
        </button>
      </div>
    </form>
  );
}

/** Makes the box as high as its text; the style sheet says where that ends. */
function grow(box: HTMLTextAreaElement | null): void {
  if (!box) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
