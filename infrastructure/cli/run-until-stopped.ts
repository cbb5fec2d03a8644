import { once } from 'node:events';
import { type Opened, opening } from '../composition/opening.ts';

/** Longest time of a stop in milliseconds. The service itself needs at most 25 seconds. */
const STOP_DEADLINE_MS = 30_000;

/**
 * Runs a service until `stop` aborts, and ends the process with 0. An abort during the start ends the start; what is
 * open by then is closed.
 * @param open starts the service and registers how to close each part; it ends early when `stop` aborts
 * @throws what `open` throws, unless `stop` has aborted
 */
export async function runUntilStopped(
  open: (opened: Opened) => Promise<void>,
  { stop }: { readonly stop: AbortSignal },
): Promise<never> {
  stop.addEventListener('abort', endAfterDeadline, { once: true });
  const running = await opening(async (opened) => {
    await open(opened);
    stop.throwIfAborted();
    return {};
  }).catch((error: unknown) => {
    if (stop.aborted) process.exit(0);
    throw error;
  });
  if (!stop.aborted) await once(stop, 'abort');
  try {
    await running.close();
  } catch (error) {
    process.stderr.write(`palimpsest: did not stop cleanly: ${String(error)}\n`);
    process.exit(1);
  }
  process.exit(0);
}

function endAfterDeadline(): void {
  const timer = setTimeout(() => {
    process.stderr.write('palimpsest: did not stop in time\n');
    process.exit(1);
  }, STOP_DEADLINE_MS);
  timer.unref();
}
