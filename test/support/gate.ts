/** A promise that a test resolves: `opened` resolves with the value given to the first call of `open`. */
export type Gate<T = void> = { readonly opened: Promise<T>; readonly open: (value: T) => void };

/** Creates a closed gate. */
export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
}
