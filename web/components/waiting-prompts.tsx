import type { VNode } from "preact";
import type { SessionSnapshot, SessionStore, UnsentPrompt } from "../../client/index.ts";
import { errorText } from "../wording.ts";

interface WaitingPromptsProps {
  readonly session: SessionSnapshot;
  readonly store: SessionStore;
}

const MODE_TEXT: Readonly<Record<string, string>> = {
  queue: "Queued",
  steer: "Steers",
  follow_up: "Follows up",
  interrupt: "Runs next",
};

/** Prompts that have not begun: on the way to the server, refused by it, or waiting there. */
export function WaitingPrompts({ session, store }: WaitingPromptsProps): VNode | null {
  const { queue, unsent } = session;
  if (queue.length === 0 && unsent.length === 0) return null;
  return (
    <ul class="waiting-prompts" aria-label="Waiting prompts">
      {queue.map(({ promptId, mode, preview }) => (
        <li key={promptId}>
          <span class="label">{MODE_TEXT[mode] ?? mode}</span>
          <span class="preview">{preview}</span>
          <button type="button" class="quiet" onClick={() => void store.withdraw(promptId)}>
            Withdraw
          </button>
        </li>
      ))}
      {unsent.map((prompt) => (
        <Unsent key={prompt.promptId} prompt={prompt} store={store} />
      ))}
    </ul>
  );
}

function Unsent({ prompt, store }: { readonly prompt: UnsentPrompt; readonly store: SessionStore }): VNode {
  const { promptId, text, error } = prompt;
  return (
    <li class={error ? "refused" : "sending"}>
      <span class="label">{error ? "Not sent" : "Sending…"}</span>
      <span class="preview">{text}</span>
      {error && (
        <>
          <span class="failure" role="alert">
            {errorText(error)}
          </span>
          <button type="button" class="quiet" onClick={() => store.resend(promptId)}>
            Try again
          </button>
          <button type="button" class="quiet" onClick={() => store.discard(promptId)}>
            Discard
          </button>
        </>
      )}
    </li>
  );
}
