import { describe } from "vitest";
import { describeFiles } from "./workspace-files-conformance.ts";
import { describeListing } from "./workspace-listing-conformance.ts";
import { describeSearch } from "./workspace-search-conformance.ts";
import type { MakeWorkspaceSource } from "./workspace-steps.ts";
import { describeVersions } from "./workspace-versions-conformance.ts";

/** What every implementation of `Workspace` and `WorkspaceSource` does. Runs in Node and in workerd alike. */
export function describeWorkspace(name: string, makeSource: MakeWorkspaceSource): void {
  describe(`${name}: files`, () => describeFiles(makeSource));
  describe(`${name}: listings`, () => describeListing(makeSource));
  describe(`${name}: versions and writers`, () => describeVersions(makeSource));
  describe(`${name}: search`, () => describeSearch(makeSource));
}
