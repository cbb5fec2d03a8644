/** Registers functions that close what was opened; the function registered last runs first. */
export type Closers = { readonly add: (close: () => Promise<void> | void) => void };

/**
 * Runs a function that opens several parts, one after another, and registers how to close each as soon as it is open.
 * When a step fails, the parts that are open by then are closed.
 * @returns the result of `open` with the function that closes all parts
 * @throws what `open` throws
 */
export async function openParts<T extends object>(
  open: (closers: Closers) => Promise<T>,
): Promise<T & { close(): Promise<void> }> {
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    const failures: unknown[] = [];
    // A part that fails to close must not keep the others open.
    for (const closeOne of closers.splice(0).reverse()) {
      try {
        await closeOne();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const result = await open({
      add(closeOne) {
        closers.push(closeOne);
      },
    });
    return { ...result, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}
