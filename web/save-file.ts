import type { WorkspaceFiles } from "./workspace-files.ts";

/** Downloads a file of the workspace: the request needs the key, so a plain link would not do. */
export async function saveFile(files: Pick<WorkspaceFiles, "read">, path: string): Promise<void> {
  const content = await files.read(path);
  if (content === null) return;
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = path.slice(path.lastIndexOf("/") + 1);
  link.click();
  URL.revokeObjectURL(address);
}
