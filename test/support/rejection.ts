/**
 * Returns the error of a call that must fail.
 * @throws Error when the call succeeds
 */
export async function rejectionOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call succeeded');
}
