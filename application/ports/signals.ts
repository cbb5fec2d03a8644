/**
 * Small, lossy wake-ups between processes (a projection moved, a webhook fell due). A lost signal costs time, never truth: every
 * listener polls slowly as well. Contract: `test/contract/signals.ts`; adapters: in-process, Postgres NOTIFY, Redis pub/sub.
 */
export type Signals = {
  /** Fire and forget; payload of at most 1 KB. Reaches every process, this one included. */
  publish(channel: string, payload: string): void;
  /** @returns a function that ends the listening. */
  subscribe(channel: string, handler: (payload: string) => void): () => void;
  close(): Promise<void>;
};
