/**
 * Metrics; names and labels are defined in `infrastructure/metrics`. Labels never contain tenants, ids or concrete
 * paths.
 */
export type Metrics = {
  /** One append finished. `seconds` is the time from call to result. */
  appendFinished(outcome: 'ok' | 'conflict' | 'error', seconds: number): void;
  /** The lag of a follower behind the head of the log, in seconds of event time (0 when caught up). */
  lag(follower: string, seconds: number): void;
  /**
   * The follower no longer runs in this process, because another process holds its lease or it was stopped. Stop
   * reporting its lag.
   */
  followerLeft?(follower: string): void;
  /** A follower applied a batch in the given time. */
  batchApplied(follower: string, events: number, seconds: number): void;
  /** A follower stopped at an event that it cannot handle, or resumed. */
  followerStopped?(follower: string, stopped: boolean): void;
  /** A follower repeats its work after an error, or succeeded again. */
  followerRetries?(follower: string, isRetrying: boolean): void;
  /** Number of audit chains that are not extended, because they are not as this service wrote them. */
  auditChainsStopped?(count: number): void;
  /** A consumer published a message to the dead-letter topic of `topic`. */
  deadLettered?(topic: string): void;
  /** The relay published a message to `topic` without its data. */
  stubPublished?(topic: string, reason: 'too_large' | 'refused'): void;
  /** A write was refused after it was stored, and taken back by another event. False: it could not be taken back. */
  compensated?(isTakenBack: boolean): void;
  /** Number of rows waiting in a queue. */
  queueDepth(queue: string, depth: number): void;
  /** An outgoing delivery attempt finished. */
  delivery(kind: string, outcome: 'success' | 'failed' | 'dead', seconds: number): void;
  /** One HTTP request finished. `route` is the declared path, not the concrete one. */
  requestFinished(api: 'admin' | 'content', route: string, method: string, status: number, seconds: number): void;
};
