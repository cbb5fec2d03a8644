/**
 * Stops the service on SIGTERM or SIGINT and exits with 0. A second signal exits at once with 1. `after` runs once the
 * service has stopped, for example to stop the embedded database.
 */
export function stopOnSignal(
  service: { stop(): Promise<void> },
  after: () => Promise<void> = () => Promise.resolve(),
): void {
  let stopping = false;
  const end = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    service
      .stop()
      .then(after)
      .then(
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
