/**
 * Waits for the work, for at most `milliseconds`. It does not abort the work; a failure of the work after that time is
 * ignored.
 * @param late what to return, or to throw, after `milliseconds`; default: an error
 * @returns the result of the work, or that of `late`
 */
export async function withDeadline<T, Late = never>(
  work: Promise<T>,
  milliseconds: number,
  late: () => Late = () => {
    throw new Error(`not finished after ${milliseconds} ms`);
  },
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  }).then(late);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
