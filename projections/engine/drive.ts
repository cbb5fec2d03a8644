import { setTimeout as pause } from 'node:timers/promises';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { laterOf } from '../../domain/event.ts';
import { openBatches } from './batches.ts';
import type { EventSource, SourceFilter } from './collaborators.ts';
import { isPassing } from './faults.ts';

export type DriveOptions = {
  readonly source: EventSource;
  readonly filter: SourceFilter;
  readonly after: GlobalPosition;
  /** Inclusive. */
  readonly until: GlobalPosition;
  /** Most events of a batch. Default 2,000. */
  readonly maxBatch?: number;
  readonly signal: AbortSignal;
  /** Whether passing faults are tried again; `commit` then finds out for itself whether an earlier try went through. Default true. */
  readonly retry?: boolean;
  /** Ends the driving before the first event for which it holds. */
  readonly stopBefore?: (event: RecordedEvent) => boolean;
  /** Writes a batch and moves the checkpoint from `from` to `to`, together. */
  readonly commit: (events: readonly RecordedEvent[], move: { readonly from: GlobalPosition; readonly to: GlobalPosition }) => Promise<void>;
};

/** Most times that a passing fault is tried again without a batch in between. */
const MOST_RETRIES = 8;

/** A subscription that is silent for so long before `until` is opened anew: nothing but the position says that all was seen. */
const SILENCE_MS = 5_000;

/** Follows the log up to exactly `until`, and no further. @returns where it came to: `until`, `after` when that is later, or the event before the stop */
export async function drive(options: DriveOptions): Promise<GlobalPosition> {
  const { source, filter, until, signal, commit, maxBatch = 2_000 } = options;
  let position = options.after;
  let failures = 0;
  let stopped = false;
  const over = (): boolean => stopped || position >= until;

  async function once(): Promise<void> {
    const batches = openBatches({ source, after: position, filter, maxEvents: maxBatch, signal });
    try {
      while (!over()) {
        const batch = await batches.next(SILENCE_MS);
        if (batch === 'idle') return;
        if (batch === 'ended') {
          signal.throwIfAborted();
          throw refusal('store_unavailable');
        }
        const end = batch.events.findIndex((event) => event.position > until || options.stopBefore?.(event) === true);
        const events = end < 0 ? batch.events : batch.events.slice(0, end);
        stopped = end >= 0 && (batch.events[end]?.position ?? until) <= until;
        const to = stopped ? (events.at(-1)?.position ?? position) : batch.position < until ? batch.position : until;
        if (to === position) continue;
        await commit(events, { from: position, to });
        position = laterOf(position, to);
        failures = 0;
      }
    } finally {
      await batches.close();
    }
  }

  while (!over()) {
    try {
      await once();
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (options.retry === false || !isPassing(error) || failures > MOST_RETRIES) throw error;
      await pause(50 * 2 ** failures, undefined, { signal });
    }
  }
  return position;
}
