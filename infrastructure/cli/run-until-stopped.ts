import { once } from 'node:events';
import { type Closers, openParts } from '../composition/open-parts.ts';
import { type Faults, catchFaults } from './faults.ts';
import { limitHeapGrowth } from './limit-heap-growth.ts';

/** Longest time of a stop in milliseconds. The service itself needs at most 25 seconds. */
const STOP_DEADLINE_MS = 30_000;

/** What a service that runs gets. `stop` aborts when the process is asked to stop, and at the first of the `faults`. */
export type RunContext = { readonly stop: AbortSignal; readonly faults: Faults };

/**
 * Runs a service until `stop` aborts, and ends the process with 0; or until an error that nothing handles, and ends it
 * with 1. An abort during the start ends the start; what is open by then is closed.
 * @param open starts the service and registers how to close each part; it ends early when its `stop` aborts
 * @throws what `open` throws, unless `stop` has aborted
 */
export async function runUntilStopped(
  open: (closers: Closers, context: RunContext) => Promise<void>,
  { stop: requested }: { readonly stop: AbortSignal },
): Promise<never> {
  limitHeapGrowth();
  const faults = catchFaults();
  const stop = AbortSignal.any([requested, faults.signal]);
  const exit = (): never => process.exit(faults.signal.aborted ? 1 : 0);
  stop.addEventListener('abort', endAfterDeadline, { once: true });
  const running = await openParts(async (closers) => {
    await open(closers, { stop, faults });
    stop.throwIfAborted();
    return {};
  }).catch((error: unknown) => {
    if (stop.aborted) exit();
    throw error;
  });
  if (!stop.aborted) await once(stop, 'abort');
  try {
    await running.close();
  } catch (error) {
    process.stderr.write(`palimpsest: did not stop cleanly: ${String(error)}\n`);
    process.exit(1);
  }
  return exit();
}

function endAfterDeadline(): void {
  const timer = setTimeout(() => {
    process.stderr.write('palimpsest: did not stop in time\n');
    process.exit(1);
  }, STOP_DEADLINE_MS);
  timer.unref();
}
