import { createMutex } from './mutex.ts';

/**
 * Never runs the work twice at the same time. Calls made during a run share the next one, so each call sees what
 * happened before it.
 * @returns a function whose result is that of the run that begins after the call
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  const mutex = createMutex();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= mutex.run(() => {
      next = undefined;
      return work();
    }));
}
