/** Creates a value on first use. A failure is not cached, so the next use tries again. */
export function once<T>(make: () => Promise<T>): { get(): Promise<T>; current(): Promise<T> | undefined } {
  let made: Promise<T> | undefined;
  return {
    get() {
      const attempt = (made ??= make());
      attempt.catch(() => {
        if (made === attempt) made = undefined;
      });
      return attempt;
    },
    current: () => made,
  };
}
