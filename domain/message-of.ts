/** The message of an error; other thrown values as text. For logs use `reasonOf`, which hides values of statements. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
