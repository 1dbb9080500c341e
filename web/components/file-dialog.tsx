import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { saveFile } from "../save-file.ts";
import type { ShownFile, WorkspaceFiles } from "../workspace-files.ts";
import type { ShownText } from "../shown-text.ts";
import { bytesText } from "../wording.ts";
import { Problem } from "./problem.tsx";

interface FileDialogProps {
  readonly shown: ShownFile;
  readonly store: WorkspaceFiles;
}

/** One file, to read and to download. Escape closes it. */
export function FileDialog({ shown, store }: FileDialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const { path, size, text, error } = shown;
  return (
    <dialog ref={dialog} class="file-dialog" aria-labelledby="file-name" onClose={() => store.hide()}>
      <header>
        <h2 id="file-name">{path}</h2>
        <span class="size">{bytesText(size)}</span>
        <button type="button" class="quiet" onClick={() => void saveFile(store, path)}>
          Download
        </button>
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      {error && <Problem error={error} />}
      {!text && !error && <p class="hint">Loading…</p>}
      {text && <FileText shown={text} />}
    </dialog>
  );
}

function FileText({ shown: { text, cut } }: { readonly shown: ShownText }): VNode {
  if (text === null) return <p class="hint">This file is not text. Download it to look at it.</p>;
  if (text === "") return <p class="hint">This file is empty.</p>;
  const lines = text.replace(/\n$/, "").split("\n").length;
  return (
    <>
      <div class="text" tabIndex={0} role="region" aria-label="Content of the file">
        <pre class="numbers" aria-hidden="true">
          {Array.from({ length: lines }, (_, index) => index + 1).join("\n")}
        </pre>
        <pre>{text}</pre>
      </div>
      {cut && <p class="hint">Only the beginning is shown. Download the file to have all of it.</p>}
    </>
  );
}
