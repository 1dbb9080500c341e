import type { VNode } from "preact";

interface ThoughtProps {
  readonly text: string;
  /** Whether it still grows. */
  readonly live: boolean;
}

/** What the model thought, folded. */
export function Thought({ text, live }: ThoughtProps): VNode {
  return (
    <details class="thought">
      <summary>{live ? "Thinking…" : "Thought"}</summary>
      <p class="plain">{text}</p>
    </details>
  );
}
