import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathGlob } from "../../../src/runtime/guard/path-glob.ts";

describe("path globs", () => {
  it.each([
    ["src/a.ts", "src/a.ts", true],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/b/a.ts", false],
    ["src/*", "src/.env", true],
    ["src/?.ts", "src/a.ts", true],
    ["src/?.ts", "src/😀.ts", true],
    ["src/?.ts", "src/ab.ts", false],
    ["src?a.ts", "src/a.ts", false],
    ["src/**", "src/a/b/c.ts", true],
    ["src/**", "src", true],
    ["src/", "src/a/b", true],
    ["src/**", "srcs/a", false],
    ["**/.env*", ".env", true],
    ["**/.env*", "a/b/.env.local", true],
    ["**/.env*", "a/.environment/x", false],
    ["**/.env*/**", "a/.environment/x", true],
    ["a/**/z", "a/z", true],
    ["a/**/z", "a/b/c/z", true],
    ["a/**/z", "a/b/c/y", false],
    ["**", "", true],
    ["*", "", false],
    ["a**z", "a-z", true],
    ["a**z", "a/z", false],
    ["A/*", "a/b", false],
    ["[ab]/{c,d}", "[ab]/{c,d}", true],
    ["[ab]/{c,d}", "a/c", false],
    ["a.c", "abc", false],
  ])("[GUARD-7] %s on %s: %s", (glob, path, fits) => {
    expect(pathGlob(glob)(path)).toBe(fits);
  });

  it.each([
    "secret/key",
    "./secret/key",
    "/secret/key",
    "//secret//key",
    "secret/./key",
    "src/../secret/key",
    "src/../secret/other/../key",
    "secret/key/",
    "a/b/../../secret/key",
  ])("[GUARD-7] judges %s as the path that it means", (path) => {
    expect(pathGlob("secret/*")(path)).toBe(true);
    expect(pathGlob("/secret/**")(path)).toBe(true);
    expect(pathGlob("src/**")(path)).toBe(false);
  });

  it("[GUARD-7] leaves a path that leads out of the root outside", () => {
    expect(pathGlob("secret/**")("../secret/key")).toBe(false);
    expect(pathGlob("secret/**")("../../secret/key")).toBe(false);
    expect(pathGlob("src/**")("src/../../src/a")).toBe(false);
    expect(pathGlob("**")("../a")).toBe(true);
  });

  it("[GUARD-7] takes composed and decomposed characters for the same", () => {
    expect(pathGlob("caf\u00e9/*")("cafe\u0301/x")).toBe(true);
    expect(pathGlob("cafe\u0301/*")("caf\u00e9/x")).toBe(true);
  });

  it("[GUARD-7] fits whatever a plain search through all possibilities fits", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 4 });
    const globName = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), minLength: 1, maxLength: 5 });
    const paths = fc
      .array(name, { maxLength: 5 })
      .filter((names) => names.every((one) => !/^\.+$/.test(one)));
    const globs = fc.array(fc.oneof(globName, fc.constant("**")), { minLength: 1, maxLength: 5 });
    let fitting = 0;
    fc.assert(
      fc.property(globs, paths, (glob, path) => {
        const expected = search(glob, path);
        if (expected) fitting += 1;
        expect(pathGlob(glob.join("/"))(path.join("/"))).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
    expect(fitting).toBeGreaterThan(50);
  });
});

/** What a glob means, without a thought of the time that it takes. */
function search(glob: readonly string[], path: readonly string[]): boolean {
  const [part, ...parts] = glob;
  const [name, ...names] = path;
  if (part === undefined) return name === undefined;
  if (part === "**") return search(parts, path) || (name !== undefined && search(glob, names));
  return name !== undefined && searchName(Array.from(part), Array.from(name)) && search(parts, names);
}

function searchName(glob: readonly string[], name: readonly string[]): boolean {
  const [part, ...parts] = glob;
  const [character, ...characters] = name;
  if (part === undefined) return character === undefined;
  if (part === "*")
    return searchName(parts, name) || (character !== undefined && searchName(glob, characters));
  return character !== undefined && (part === "?" || part === character) && searchName(parts, characters);
}
