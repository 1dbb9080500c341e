import { fitsGlob, fitsWildcard } from "./wildcard.ts";

const ANY_FOLDERS = "**";

interface Segment {
  readonly name: string;
  readonly characters: readonly string[];
}

/**
 * A test of paths: `*` and `?` stay within a name, `**` is any number of folders, also none, so that `a/**` is `a` and all
 * that is below it. Paths are compared in the one form in which tools understand them, so that no other spelling of
 * a path (`./a`, `/a`, `b/../a`) slips through a rule.
 */
export function pathGlob(glob: string): (path: string) => boolean {
  const pattern = segmentsOf(glob.endsWith("/") ? glob + ANY_FOLDERS : glob);
  return (path) =>
    fitsWildcard(pattern, withoutParents(segmentsOf(path)), {
      isStar: ({ name }) => name === ANY_FOLDERS,
      fits: (part, { characters }) => fitsGlob(part.characters, characters),
    });
}

function segmentsOf(path: string): Segment[] {
  return path
    .normalize("NFC")
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .map((name) => ({ name, characters: Array.from(name) }));
}

/** Takes back a folder for each `..`; those that lead out of the root stay, and no name fits them. */
function withoutParents(segments: readonly Segment[]): Segment[] {
  const kept: Segment[] = [];
  for (const segment of segments) {
    const last = kept.at(-1)?.name;
    if (segment.name === ".." && last !== undefined && last !== "..") kept.pop();
    else kept.push(segment);
  }
  return kept;
}
