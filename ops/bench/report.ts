/** A measured value with its target and baseline. */
export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Target in the same unit: at least or at most this value. */
  readonly target?: { readonly least: number } | { readonly most: number };
  /** Value of the baseline in the same unit, measured in the same run. */
  readonly baseline?: number;
  readonly note?: string;
};

/** Whether the figure meets its target. Undefined without a target. */
export function meetsTarget({ value, target }: Figure): boolean | undefined {
  if (!target) return undefined;
  return 'least' in target ? value >= target.least : value <= target.most;
}

/** Formats figures as a table for the terminal. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${round(figure.value)} ${figure.unit}`,
    figure.baseline === undefined ? '' : round(figure.baseline),
    figure.baseline === undefined ? '' : `× ${(figure.value / figure.baseline).toFixed(2)}`,
    figure.target === undefined
      ? ''
      : 'least' in figure.target
        ? `≥ ${round(figure.target.least)}`
        : `≤ ${round(figure.target.most)}`,
    meetsTarget(figure) === undefined ? '' : meetsTarget(figure) ? 'met' : 'MISSED',
    figure.note ?? '',
  ]);
  const head = ['', 'measured', 'bare', 'ratio', 'target', '', ''];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2);
}
