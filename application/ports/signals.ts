/**
 * Wake-ups between processes, such as "a projection moved" or "a webhook is due". Signals may be lost: every listener
 * polls as well, so a lost signal only adds delay. Contract: `test/contract/signals.ts`; adapters: in-process, Postgres
 * NOTIFY, Redis pub/sub.
 */
export type Signals = {
  /**
   * Sends a payload of at most 1 KB to every process, including this one. Does not wait and does not report failures.
   */
  publish(channel: string, payload: string): void;
  /** @returns a function that removes the handler */
  subscribe(channel: string, handler: (payload: string) => void): () => void;
  close(): Promise<void>;
};
