/** Errors after which the process must end: those that no code handles, and those that are raised. */
export type Faults = {
  /** Aborts at the first such error, with the error as its reason. */
  readonly signal: AbortSignal;
  /** Registers what runs at each such error. */
  add(handler: (error: unknown) => void): void;
  /** Ends the process as after an error that nothing handles: a part of it has ended for good. */
  readonly raise: (error: unknown) => void;
};

/**
 * Catches exceptions and rejected promises that nothing else handles. The state of the process is unknown after one, so
 * the process must end; the handlers log the error and answer the open requests first.
 */
export function catchFaults(): Faults {
  const begun = new AbortController();
  const handlers: ((error: unknown) => void)[] = [];
  const handle = (error: unknown): void => {
    if (handlers.length === 0)
      process.stderr.write(`palimpsest: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    for (const handler of handlers) handler(error);
    begun.abort(error);
  };
  process.on('uncaughtException', handle);
  process.on('unhandledRejection', handle);
  return {
    signal: begun.signal,
    raise: handle,
    add(handler) {
      handlers.push(handler);
    },
  };
}
