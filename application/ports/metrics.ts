/** Numbers for operators; names and labels in `infrastructure/metrics`. Labels never hold tenants, ids or paths with ids. */
export type Metrics = {
  /** One append answered. `seconds` from call to answer. */
  appendFinished(outcome: 'ok' | 'conflict' | 'error', seconds: number): void;
  /** How far a follower of the log is behind its head, in seconds of event time (0 when caught up). */
  lag(follower: string, seconds: number): void;
  /** The follower runs here no more (another process has its lease, or it was told to stop): its lag is that one's to tell. */
  followerLeft?(follower: string): void;
  /** A batch applied by a follower of the log. */
  batchApplied(follower: string, events: number, seconds: number): void;
  /** A follower of the log stopped at an event that it can't handle, or goes on again. */
  followerStopped?(follower: string, stopped: boolean): void;
  /** A consumer laid something among the dead letters of `topic` (rule 10). */
  deadLettered?(topic: string): void;
  /** Rows waiting in a queue. */
  queueDepth(queue: string, depth: number): void;
  /** An outgoing delivery finished. */
  delivery(kind: string, outcome: 'success' | 'failed' | 'dead', seconds: number): void;
  /** One HTTP request answered. `route` is the declared path, never the concrete one. */
  requestFinished(api: 'admin' | 'content', route: string, method: string, status: number, seconds: number): void;
};
