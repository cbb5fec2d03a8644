/** The median of some numbers; NaN without numbers. Of two middle numbers it takes the larger one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
