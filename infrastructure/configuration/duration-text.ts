const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** A number of milliseconds as a text that the parser `duration` reads, such as `1m30s`. */
export function durationText(milliseconds: number): string {
  let rest = milliseconds;
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = unit === 'ms' ? rest : Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === '' ? '0' : text;
}
