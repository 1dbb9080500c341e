/** A sample of one figure, one value per run. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * The value below which a share of the others lies, by linear interpolation.
 * @throws RangeError without values
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) throw new RangeError("There are no values.");
  return below + (above - below) * (at - Math.floor(at));
}

/** @throws RangeError without values */
export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), min: quantile(values, 0), max: quantile(values, 1) };
}
