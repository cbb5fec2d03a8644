import { setTimeout as pause } from 'node:timers/promises';

/** Repeats a check until it stops throwing; rethrows its last error after `timeoutMs` (default 10 s). For effects that have no signal to wait for. */
export async function eventually<T>(check: () => T | Promise<T>, { timeoutMs = 10_000, everyMs = 20 }: { timeoutMs?: number; everyMs?: number } = {}): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
      await pause(everyMs);
    }
  }
}
