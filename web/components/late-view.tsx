import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

interface LateViewProps<Props> {
  /** Loads the component; always the same function. */
  readonly load: () => Promise<(props: Props) => VNode>;
  readonly props: Props;
}

/** A part of the page that is loaded when it is first looked at. */
export function LateView<Props extends object>({ load, props }: LateViewProps<Props>): VNode {
  const [View, setView] = useState<((props: Props) => VNode) | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (view) => setView(() => view),
      () => setFailed(true),
    );
  }, [load]);
  if (View) return <View {...props} />;
  if (!failed) return <p class="hint">Loading…</p>;
  return (
    <>
      <p class="failure" role="alert">
        This view could not be loaded: the connection is gone, or the page is older than the server.
      </p>
      {/* Browsers remember that a module failed: asking for it again would fail without asking. */}
      <button type="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </>
  );
}
