/**
 * Where an unexpected error came from, for an operator's log: its name and the frames of its stack, never its
 * message, which may hold secrets or what users wrote.
 */
export function traceOf(caught: unknown): Record<string, unknown> {
  if (!(caught instanceof Error)) return { error: typeof caught };
  const frames = (caught.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return { error: caught.name, frames: frames.slice(0, 20) };
}
