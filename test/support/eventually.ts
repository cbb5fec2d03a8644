import { setTimeout as pause } from 'node:timers/promises';

/**
 * Repeats a check until it no longer throws, for effects without a signal to wait for.
 * @throws the last error of the check after `timeoutMs` (default 10 s)
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 10_000, everyMs = 20 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
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
