// Stands in the place of `node:zlib`, which only shell commands import that are left out; wrangler.toml says so.

export const constants = {};

export function gzipSync(): never {
  throw new Error("There is no gzip here.");
}

export function gunzipSync(): never {
  throw new Error("There is no gunzip here.");
}
