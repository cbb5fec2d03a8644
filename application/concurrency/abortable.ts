/**
 * Waits for the work until the signal aborts. It does not end the work, which may not know the signal; a failure of the
 * work after that is ignored.
 * @throws Error as soon as the signal aborts
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(new Error('aborted', { cause: signal.reason }));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}
