/** A measured figure beside what it is held against. */
export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What must be reached, in the same unit; `least`: not less, `most`: not more. */
  readonly target?: { readonly least: number } | { readonly most: number };
  /** The yardstick measured in the same run, in the same unit. */
  readonly yardstick?: number;
  readonly note?: string;
};

/** Whether the figure holds its target; undefined without one. */
export function holds({ value, target }: Figure): boolean | undefined {
  if (!target) return undefined;
  return 'least' in target ? value >= target.least : value <= target.most;
}

/** The figures as a table for the terminal. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${round(figure.value)} ${figure.unit}`,
    figure.yardstick === undefined ? '' : round(figure.yardstick),
    figure.yardstick === undefined ? '' : `× ${(figure.value / figure.yardstick).toFixed(2)}`,
    figure.target === undefined ? '' : 'least' in figure.target ? `≥ ${round(figure.target.least)}` : `≤ ${round(figure.target.most)}`,
    holds(figure) === undefined ? '' : holds(figure) ? 'holds' : 'MISSED',
    figure.note ?? '',
  ]);
  const head = ['', 'measured', 'bare', 'ratio', 'target', '', ''];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  return [head, ...rows].map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ').trimEnd()).join('\n');
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2);
}
