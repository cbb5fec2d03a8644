/**
 * Creates a signal that aborts on SIGTERM or SIGINT, with the name of the signal as its reason. A second one ends the
 * process at once with 1. As process 1 of a container, a process without such a handler ignores both.
 */
export function createStopSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort(name);
    });
  return stopping.signal;
}
