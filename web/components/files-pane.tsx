import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { App, AppState } from "../app.ts";
import { filesOfDrop, filesOfInput } from "../source-files.ts";
import type { SourceFiles } from "../source-files.ts";
import { FileDialog } from "./file-dialog.tsx";
import { FolderList } from "./folder-list.tsx";
import { Problem } from "./problem.tsx";
import { UploadState } from "./upload-state.tsx";

/** The files of the open session's workspace. */
export function FilesPane({ state, app }: { readonly state: AppState; readonly app: App }): VNode {
  const [isOver, setOver] = useState(false);
  const { files } = state;
  const store = app.files;
  if (!files || !store) {
    return (
      <section class="pane files" aria-label="Files">
        <header>
          <h2>Files</h2>
        </header>
        <p class="hint">The files of a session appear here.</p>
      </section>
    );
  }
  const root = files.folders.get("");
  return (
    <section
      class={isOver ? "pane files over" : "pane files"}
      aria-label="Files"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        const { relatedTarget, currentTarget } = event;
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer) void store.receive(filesOfDrop(event.dataTransfer.items));
      }}
    >
      <header>
        <h2>Files</h2>
        <FileButton label="Upload folder" folder onFiles={(chosen) => void store.receive(chosen)} />
        <FileButton label="Upload files" folder={false} onFiles={(chosen) => void store.receive(chosen)} />
      </header>
      {files.upload && <UploadState upload={files.upload} store={store} />}
      {files.problem && <Problem error={files.problem} onDismiss={() => store.dismissProblem()} />}
      {root?.entries.length === 0 && (
        <p class="hint drop">
          No files yet. Drop a folder here, or use “Upload folder”. <code>.git</code> and{" "}
          <code>node_modules</code> are left out.
        </p>
      )}
      {!root && !files.problem && <p class="hint">Loading the files…</p>}
      <FolderList path="" files={files} store={store} />
      {root && root.entries.length > 0 && (
        <button
          type="button"
          class="quiet"
          disabled={state.creating}
          onClick={() => void app.createSession({ workspace: files.workspace })}
        >
          New session with these files
        </button>
      )}
      {files.shown && <FileDialog shown={files.shown} store={store} />}
    </section>
  );
}

interface FileButtonProps {
  readonly label: string;
  readonly folder: boolean;
  readonly onFiles: (files: SourceFiles) => void;
}

/** A file input that looks like a button and can be reached by keyboard like one. */
function FileButton({ label, folder, onFiles }: FileButtonProps): VNode {
  return (
    <label class="file-button">
      {label}
      <input
        type="file"
        multiple
        ref={(input) => {
          if (input) input.webkitdirectory = folder;
        }}
        onChange={({ currentTarget }) => {
          onFiles(filesOfInput(currentTarget.files ?? []));
          // So that choosing the same folder again is a change.
          currentTarget.value = "";
        }}
      />
    </label>
  );
}
