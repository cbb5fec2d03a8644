import { setTimeout as pause } from 'node:timers/promises';
import type { EventFilter, EventStore } from '../../application/ports/event-store.ts';
import { isTransient } from '../../application/ports/transient-errors.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, type RecordedEvent, laterOf } from '../../domain/event.ts';
import { type Batch, openBatches } from './batches.ts';

export type ApplyUntilOptions = {
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly filter: EventFilter;
  readonly after: GlobalPosition;
  /** Inclusive. A position of a committed record, or of the head. */
  readonly until: GlobalPosition;
  /** Maximum number of events in a batch. Default 2,000. */
  readonly maxBatch?: number;
  readonly signal: AbortSignal;
  /** The table that an event changes; see `Projection.tableOf`. */
  readonly tableOf?: (event: RecordedEvent) => string | undefined;
  /**
   * Whether transient errors are retried. Default true: `commit` then checks whether an earlier attempt was committed.
   */
  readonly retry?: boolean;
  /** Stops before the first event for which it returns true. */
  readonly stopBefore?: (event: RecordedEvent) => boolean;
  /** Writes a batch and moves the checkpoint from `from` to `to`, in one transaction. */
  readonly commit: (
    events: readonly RecordedEvent[],
    move: { readonly from: GlobalPosition; readonly to: GlobalPosition },
  ) => Promise<void>;
};

/** Maximum number of consecutive retries without a batch in between. */
const MAX_RETRIES = 8;

/**
 * A subscription without an item for this long before `until` is reopened: only the position shows that all events were
 * seen.
 */
const SILENCE_MS = 5_000;

/**
 * Applies the events of the log up to `until`, inclusive, in batches.
 * @returns the position reached: `until`, `after` when that is later, or the event before the stop
 */
export async function applyUntil(options: ApplyUntilOptions): Promise<GlobalPosition> {
  const { eventStore, filter, until, signal, commit, tableOf, maxBatch = 2_000 } = options;
  let position = options.after;
  let failures = 0;
  let stopped = false;
  const isDone = (): boolean => stopped || position >= until;

  /**
   * The position up to which the event store holds no event after those of the batch. `until` can lie behind the last
   * event, because other records of the store have positions too; it reports such positions rarely.
   */
  async function passedBy(batch: Batch): Promise<GlobalPosition> {
    if (!batch.caughtUp || batch.position >= until) return batch.position;
    return (await eventStore.head()) <= batch.position ? until : batch.position;
  }

  async function once(): Promise<void> {
    const batches = openBatches({ eventStore, after: position, filter, maxEvents: maxBatch, signal, tableOf });
    try {
      while (!isDone()) {
        const batch = await batches.next(SILENCE_MS);
        if (batch === 'idle') return;
        if (batch === 'ended') {
          signal.throwIfAborted();
          throw refusal('store_unavailable');
        }
        const end = batch.events.findIndex((event) => event.position > until || options.stopBefore?.(event) === true);
        const events = end < 0 ? batch.events : batch.events.slice(0, end);
        stopped = end >= 0 && (batch.events[end]?.position ?? until) <= until;
        const reached = await passedBy(batch);
        const to = stopped ? (events.at(-1)?.position ?? position) : reached < until ? reached : until;
        if (to === position) continue;
        await commit(events, { from: position, to });
        position = laterOf(position, to);
        failures = 0;
      }
    } finally {
      await batches.close();
    }
  }

  while (!isDone()) {
    try {
      await once();
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (options.retry === false || !isTransient(error) || failures > MAX_RETRIES) throw error;
      await pause(50 * 2 ** failures, undefined, { signal });
    }
  }
  return position;
}
