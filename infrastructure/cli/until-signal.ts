/**
 * Stops the service on SIGTERM or SIGINT and ends the process with 0; a second signal ends it at once with 1.
 * `after` runs when the service has stopped (the embedded database goes last).
 */
export function stopOnSignal(service: { stop(): Promise<void> }, after: () => Promise<void> = () => Promise.resolve()): void {
  let stopping = false;
  const end = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    service.stop().then(after).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`palimpsest: did not stop cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}
