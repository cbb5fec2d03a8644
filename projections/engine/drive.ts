import { setTimeout as pause } from 'node:timers/promises';
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
  /** Writes a batch and moves the checkpoint from `from` to `to`, together. */
  readonly commit: (events: readonly RecordedEvent[], move: { readonly from: GlobalPosition; readonly to: GlobalPosition }) => Promise<void>;
};

/** Most times that a passing fault is tried again without a batch in between. */
const MOST_RETRIES = 8;

/** Follows the log up to exactly `until`, and no further. @returns where it came to: `until`, or `after` when that is later */
export async function drive(options: DriveOptions): Promise<GlobalPosition> {
  const { source, filter, until, signal, commit, maxBatch = 2_000 } = options;
  let position = options.after;
  let failures = 0;

  async function once(): Promise<void> {
    const batches = openBatches({ source, after: position, filter, maxEvents: maxBatch, signal });
    try {
      while (position < until) {
        const batch = await batches.next();
        if (batch === 'ended') throw signal.reason;
        if (batch === 'idle') continue;
        // A subscription opened after `until` was known that has caught up has seen everything up to it.
        const to = batch.caughtUp || batch.position > until ? until : batch.position;
        const events = batch.position > until ? batch.events.filter((event) => event.position <= until) : batch.events;
        if (to === position && events.length === 0) continue;
        await commit(events, { from: position, to });
        position = laterOf(position, to);
        failures = 0;
      }
    } finally {
      await batches.close();
    }
  }

  while (position < until) {
    try {
      await once();
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (!isPassing(error) || failures > MOST_RETRIES) throw error;
      await pause(50 * 2 ** failures, undefined, { signal });
    }
  }
  return position;
}
