/** Prints each value as one line of JSON on standard output. */
export function printJson(...values: readonly unknown[]): void {
  for (const value of values) process.stdout.write(`${JSON.stringify(value)}\n`);
}
