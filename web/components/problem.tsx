import type { VNode } from "preact";
import type { ErrorBody } from "../../src/runtime/protocol/errors.ts";
import { errorText } from "../wording.ts";

interface ProblemProps {
  readonly error: ErrorBody;
  readonly onDismiss?: () => void;
}

/** Something that failed, said at once and until it is dismissed. */
export function Problem({ error, onDismiss }: ProblemProps): VNode {
  return (
    <div class="problem" role="alert">
      <span>{errorText(error)}</span>
      {onDismiss && (
        <button type="button" class="quiet" onClick={onDismiss}>
          Dismiss
        </button>
      )}
    </div>
  );
}
