import type { EventStore, Expected, StreamWrite } from '../ports/event-store.ts';
import type { GlobalPosition, NewEvent, RecordedEvent } from '../../domain/event.ts';
import { ORIGIN } from '../../domain/event.ts';
import type { Comparison } from './compare-logs.ts';
import { compareLogs } from './compare-logs.ts';
import { isOutage } from './outage.ts';

export type CopyProgress = {
  readonly phase: 'copying' | 'comparing';
  /** Events done and to do. While copying the latter is known only as a place in the log: then both count positions of the first store. */
  readonly done: number;
  readonly total: number;
};

/** The summary of `npm run copy-events` (decisions D). */
export type CopyReport = Comparison & {
  /** Events that this run wrote; those of a run before are found and not written again. */
  readonly copied: number;
};

export type CopyOptions = {
  readonly from: EventStore;
  readonly to: EventStore;
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Waits between tries while a store is away. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal?: AbortSignal;
};

/** Most events and streams in one write. */
const MOST_EVENTS = 500;
const MOST_BYTES = 512 * 1024;
const TRIES = 8;
const FIRST_PAUSE_MS = 200;

/**
 * Copies a log into another store: every event in its order, with its id, stream, revision, data and metadata (what was recorded when stands
 * in `metadata.occurred_at`), up to the head at the start; then reads both and compares them. May be cut off at any moment and run again: it
 * goes on after the last event that the second store holds.
 * @throws Error when the second store holds events that the first does not, or history was removed from the first
 */
export async function copyEvents({ from, to, onProgress, pause, signal }: CopyOptions): Promise<CopyReport> {
  const until = await from.head();
  const after = await positionReached(from, to);
  let copied = 0;
  for await (const batch of batches(from, after, until, to.appendMany === undefined ? 1 : MOST_EVENTS, signal)) {
    await patiently(() => write(to, batch), pause);
    copied += batch.reduce((sum, { events }) => sum + events.length, 0);
    const last = batch.at(-1)?.reached ?? until;
    onProgress?.({ phase: 'copying', done: Number(last), total: Number(until) });
  }
  let compared = 0;
  const comparison = await compareLogs({
    from,
    to,
    until,
    ...(signal ? { signal } : {}),
    onEvent: () => {
      compared += 1;
      if (compared % MOST_EVENTS === 0) onProgress?.({ phase: 'comparing', done: compared, total: Math.max(compared, 2 * copied) });
    },
  });
  onProgress?.({ phase: 'comparing', done: compared, total: compared });
  return { ...comparison, copied };
}

/** Where the second store stands in the first: what it holds is what a run before wrote, in order, so its last event tells. */
async function positionReached(from: EventStore, to: EventStore): Promise<GlobalPosition> {
  for await (const last of to.readAll({ direction: 'backwards', limit: 1 })) {
    const original = await originalOf(from, last);
    if (original?.stream === last.stream && original.revision === last.revision) return original.position;
    throw new Error(`the store to copy to holds an event that the other does not: ${last.id} in ${last.stream}`);
  }
  return ORIGIN;
}

async function originalOf(from: EventStore, { id, stream, revision }: RecordedEvent): Promise<RecordedEvent | undefined> {
  for await (const event of from.readStream(stream, { from: revision, limit: 1 })) if (event.id === id) return event;
  return from.findEvent(id);
}

type Run = StreamWrite & { readonly events: NewEvent[]; reached: GlobalPosition };

/**
 * The log in pieces for one write each: runs of neighbouring events of one stream, as many as go into one write without a stream coming
 * twice, so that the order of the whole log stays.
 */
async function* batches(from: EventStore, after: GlobalPosition, until: GlobalPosition, mostRuns: number, signal?: AbortSignal): AsyncIterable<readonly Run[]> {
  let runs: Run[] = [];
  let streams = new Set<string>();
  let events = 0;
  let bytes = 0;
  for await (const event of from.readAll({ after, ...(signal ? { signal } : {}) })) {
    if (event.position > until) break;
    const size = JSON.stringify(event.data).length + JSON.stringify(event.metadata).length;
    let run = runs.at(-1);
    const joins = run?.stream === event.stream;
    if (events > 0 && (events >= MOST_EVENTS || bytes + size > MOST_BYTES || (!joins && (runs.length >= mostRuns || streams.has(event.stream))))) {
      yield runs;
      signal?.throwIfAborted();
      runs = [];
      streams = new Set();
      events = 0;
      bytes = 0;
      run = undefined;
    }
    if (run?.stream !== event.stream) {
      run = { stream: event.stream, expected: expectedBefore(event), events: [], reached: event.position };
      runs.push(run);
      streams.add(event.stream);
    }
    const { id, type, data, metadata } = event;
    run.events.push({ id, type, data, metadata });
    run.reached = event.position;
    events += 1;
    bytes += size;
  }
  if (runs.length > 0) yield runs;
}

function expectedBefore({ revision }: RecordedEvent): Expected {
  return revision === 0 ? 'no_stream' : revision - 1;
}

async function write(to: EventStore, batch: readonly Run[]): Promise<void> {
  if (to.appendMany !== undefined && batch.length > 1) {
    await to.appendMany(batch.map(({ stream, events, expected }) => ({ stream, events, expected })));
    return;
  }
  for (const { stream, events, expected } of batch) await to.append(stream, events, { expected });
}

/** Repeats a write while the store is away: the ids make it harmless. */
async function patiently<T>(work: () => Promise<T>, pause: CopyOptions['pause']): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || attempt === TRIES) throw error;
      await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}
