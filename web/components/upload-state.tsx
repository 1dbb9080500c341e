import type { VNode } from "preact";
import type { Upload, WorkspaceFiles } from "../workspace-files.ts";
import { countText, errorText } from "../wording.ts";

const SHOWN_FAILURES = 5;

interface UploadStateProps {
  readonly upload: Upload;
  readonly store: WorkspaceFiles;
}

/** How far an upload has come, and what became of it. */
export function UploadState({ upload, store }: UploadStateProps): VNode {
  const { total, done, skipped, failures, running } = upload;
  return (
    <div class="upload">
      <p role="status">
        {running
          ? `Uploading ${done} of ${total}…`
          : `${countText(done - failures.length, "file")} uploaded${skipped > 0 ? `, ${skipped} left out` : ""}.`}
      </p>
      {running && <progress aria-label="Upload" max={total} value={done} />}
      {failures.length > 0 && (
        <div class="failure" role="alert">
          <p>{countText(failures.length, "file")} could not be uploaded:</p>
          <ul>
            {failures.slice(0, SHOWN_FAILURES).map(({ source, error }) => (
              <li key={source.path}>
                <code>{source.path}</code> {errorText(error)}
              </li>
            ))}
            {failures.length > SHOWN_FAILURES && <li>and {failures.length - SHOWN_FAILURES} more</li>}
          </ul>
          <button type="button" class="quiet" onClick={() => void store.retryUpload()}>
            Try these again
          </button>
        </div>
      )}
      <button type="button" class="quiet" onClick={() => store.cancelUpload()}>
        {running ? "Cancel" : "Close"}
      </button>
    </div>
  );
}
