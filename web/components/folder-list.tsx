import type { VNode } from "preact";
import type { FolderEntry } from "../../client/index.ts";
import type { FilesState, WorkspaceFiles } from "../workspace-files.ts";
import { bytesText, countText } from "../wording.ts";

interface FolderListProps {
  readonly path: string;
  readonly files: FilesState;
  readonly store: WorkspaceFiles;
}

/** What stands in a folder; folders in it unfold in place. */
export function FolderList({ path, files, store }: FolderListProps): VNode | null {
  const folder = files.folders.get(path);
  if (!folder) return path === "" ? null : <p class="hint">Loading…</p>;
  return (
    <ul class="folder">
      {folder.entries.map((entry) => (
        <li key={entry.path}>
          {entry.kind === "file" ? (
            <button type="button" class="entry file" onClick={() => void store.show(entry.path, entry.size)}>
              <span class="name">{nameOf(entry)}</span>
              <span class="size">{bytesText(entry.size)}</span>
            </button>
          ) : (
            <FolderItem entry={entry} files={files} store={store} />
          )}
        </li>
      ))}
      {folder.omitted > 0 && <li class="hint">and {countText(folder.omitted, "more file")}</li>}
    </ul>
  );
}

interface FolderItemProps {
  readonly entry: Extract<FolderEntry, { kind: "directory" }>;
  readonly files: FilesState;
  readonly store: WorkspaceFiles;
}

function FolderItem({ entry, files, store }: FolderItemProps): VNode {
  const isOpen = files.expanded.has(entry.path);
  return (
    <>
      <button
        type="button"
        class="entry directory"
        aria-expanded={isOpen}
        onClick={() => store.toggle(entry.path)}
      >
        <span class="name">{nameOf(entry)}</span>
        <span class="size">{countText(entry.files, "file")}</span>
      </button>
      {isOpen && <FolderList path={entry.path} files={files} store={store} />}
    </>
  );
}

function nameOf({ path }: FolderEntry): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
