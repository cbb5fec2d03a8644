import { type GlobalPosition, type NewEvent, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import type { EventStore, Expected, StreamWrite } from '../ports/event-store.ts';
import { isOutage } from '../ports/transient-errors.ts';
import { type Comparison, compareLogs } from './compare-logs.ts';

/**
 * Work done and total work. While copying, both are positions of the first store; while comparing, both are numbers of
 * events.
 */
export type CopyProgress = {
  readonly phase: 'copying' | 'comparing';
  readonly done: number;
  readonly total: number;
};

/** Result of `npm run copy-events`. */
export type CopyReport = Comparison & {
  /** Number of events that this run appended. Events of an earlier run are not appended again. */
  readonly copied: number;
};

export type CopyEventsInput = {
  readonly from: EventStore;
  readonly to: EventStore;
  readonly onProgress?: (progress: CopyProgress) => void;
  readonly signal?: AbortSignal;
};

export type CopyEventsDependencies = {
  /** Waits before an append is retried while a store is unreachable. */
  readonly pause: (milliseconds: number) => Promise<void>;
};

/** Maximum number of events in one write. */
const MAX_EVENTS = 500;
/** Maximum size of one write, in characters of JSON. */
const MAX_CHARACTERS = 512 * 1024;
const MAX_TRIES = 8;
const FIRST_PAUSE_MS = 200;

/**
 * Copies a log into another store up to the head at the start, then compares both. Order, ids, streams, revisions, data
 * and metadata stay the same; `recorded_at` does not. An interrupted copy can be run again: it continues after the last
 * event of the second store.
 * @throws Error when the second store holds events that the first does not, or events were deleted from the first
 */
export async function copyEvents(
  { from, to, onProgress, signal }: CopyEventsInput,
  { pause }: CopyEventsDependencies,
): Promise<CopyReport> {
  const until = await from.head();
  const after = await positionReached({ from, to });
  let copied = 0;
  const maxRuns = to.appendMany === undefined ? 1 : MAX_EVENTS;
  for await (const batch of batches({ from, after, until, maxRuns, signal })) {
    await withRetries(() => write(batch, to), { pause });
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
      if (compared % MAX_EVENTS === 0)
        onProgress?.({ phase: 'comparing', done: compared, total: Math.max(compared, 2 * copied) });
    },
  });
  onProgress?.({ phase: 'comparing', done: compared, total: compared });
  return { ...comparison, copied };
}

/**
 * Position in the first store of the last event that the second store holds. Copies keep the order, so all earlier
 * events were copied too.
 */
async function positionReached({ from, to }: Pick<CopyEventsInput, 'from' | 'to'>): Promise<GlobalPosition> {
  for await (const last of to.readAll({ direction: 'backwards', limit: 1 })) {
    const original = await originalOf(last, from);
    if (original?.stream === last.stream && original.revision === last.revision) return original.position;
    throw new Error(`the target store holds an event that the source store does not: ${last.id} in ${last.stream}`);
  }
  return ORIGIN;
}

async function originalOf(
  { id, stream, revision }: RecordedEvent,
  from: EventStore,
): Promise<RecordedEvent | undefined> {
  for await (const event of from.readStream(stream, { from: revision, limit: 1 })) if (event.id === id) return event;
  return from.findEvent(id);
}

/** Neighbouring events of one stream. `reached` is the position of the last one in the first store. */
type Run = StreamWrite & { readonly events: NewEvent[]; reached: GlobalPosition };

/**
 * Splits the log into batches, one write each. A batch holds at most `maxRuns` runs and each stream only once, so that
 * the write keeps the order of the log.
 */
async function* batches({
  from,
  after,
  until,
  maxRuns,
  signal,
}: {
  readonly from: EventStore;
  readonly after: GlobalPosition;
  readonly until: GlobalPosition;
  readonly maxRuns: number;
  readonly signal: AbortSignal | undefined;
}): AsyncIterable<readonly Run[]> {
  let runs: Run[] = [];
  let streams = new Set<string>();
  let events = 0;
  let characters = 0;
  for await (const event of from.readAll({ after, ...(signal ? { signal } : {}) })) {
    if (event.position > until) break;
    const size = JSON.stringify(event.data).length + JSON.stringify(event.metadata).length;
    let run = runs.at(-1);
    const continuesRun = run?.stream === event.stream;
    if (
      events > 0 &&
      (events >= MAX_EVENTS ||
        characters + size > MAX_CHARACTERS ||
        (!continuesRun && (runs.length >= maxRuns || streams.has(event.stream))))
    ) {
      yield runs;
      signal?.throwIfAborted();
      runs = [];
      streams = new Set();
      events = 0;
      characters = 0;
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
    characters += size;
  }
  if (runs.length > 0) yield runs;
}

function expectedBefore({ revision }: RecordedEvent): Expected {
  return revision === 0 ? 'no_stream' : revision - 1;
}

async function write(batch: readonly Run[], to: EventStore): Promise<void> {
  if (to.appendMany !== undefined && batch.length > 1) {
    await to.appendMany(batch.map(({ stream, events, expected }) => ({ stream, events, expected })));
    return;
  }
  for (const { stream, events, expected } of batch) await to.append(stream, events, { expected });
}

/** Retries a write during an outage of the store. Event ids make repeated appends idempotent. */
async function withRetries<T>(work: () => Promise<T>, { pause }: CopyEventsDependencies): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || attempt === MAX_TRIES) throw error;
      await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}
