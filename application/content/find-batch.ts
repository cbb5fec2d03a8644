import { DAY_MS } from '../../domain/durations.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { parseStream } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';

/**
 * Selects a batch of events: those with one correlation id (a request, an import), or those that an API key wrote in a
 * period (RFC 3339, UTC, both ends inclusive).
 */
export type BatchSelector =
  | { readonly kind: 'correlation'; readonly correlationId: string }
  | { readonly kind: 'api_key'; readonly keyId: string; readonly from: string; readonly to: string };

/** An event of the batch that is not an entry's. */
export type NotUndoable = {
  readonly kind: string;
  readonly id: string;
  readonly event_id: string;
  readonly type: string;
};

export type Batch = {
  /**
   * Streams of the entries that the batch wrote, the one written last first, because later entries may refer to earlier
   * ones.
   */
  readonly streams: readonly string[];
  /** Ids of these entries. */
  readonly ids: ReadonlySet<string>;
  readonly events: number;
  /** The first events that are not an entry's. `notUndoableCount` counts all of them. */
  readonly notUndoable: readonly NotUndoable[];
  readonly notUndoableCount: number;
  readonly contains: (event: RecordedEvent) => boolean;
};

/** Maximum number of entries of one undo. */
const MAX_ENTRIES = 10_000;
const MAX_LISTED = 200;

export type FindBatchInput = {
  readonly tenant: string;
  readonly selector: BatchSelector;
  readonly signal: AbortSignal;
};

/**
 * Finds the tenant's events of a batch. A correlation id is looked up in the store's index. For a key, the log is read
 * backwards from its head to `from`.
 * @throws `undo_too_large` for a batch of more than 10,000 entries
 */
export async function findBatch(
  input: FindBatchInput,
  dependencies: { readonly eventStore: Pick<EventStore, 'readAll'> },
): Promise<Batch> {
  const contains = matcherOf(input.selector);
  const last = new Map<string, GlobalPosition>();
  const notUndoable: NotUndoable[] = [];
  let notUndoableCount = 0;
  let events = 0;
  for await (const event of candidates(input, dependencies)) {
    if (!contains(event)) continue;
    events += 1;
    const parts = parseStream(event.stream);
    if (parts?.category === 'entry') {
      const lastOfStream = last.get(event.stream);
      if (lastOfStream === undefined || lastOfStream < event.position) last.set(event.stream, event.position);
      if (last.size > MAX_ENTRIES) throw refusal('undo_too_large');
      continue;
    }
    notUndoableCount += 1;
    if (notUndoable.length < MAX_LISTED)
      notUndoable.push({
        kind: parts?.category ?? 'unknown',
        id: parts?.id ?? event.stream,
        event_id: event.id,
        type: event.type,
      });
  }
  const streams = [...last].toSorted(([, a], [, b]) => (a < b ? 1 : -1)).map(([stream]) => stream);
  const ids = new Set(streams.flatMap((stream) => parseStream(stream)?.id ?? []));
  return { streams, ids, events, notUndoable, notUndoableCount, contains };
}

async function* candidates(
  { tenant, selector, signal }: FindBatchInput,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readAll'> },
): AsyncIterable<RecordedEvent> {
  if (selector.kind === 'correlation') {
    yield* eventStore.readAll({ filter: { tenant, correlationId: selector.correlationId }, signal });
    return;
  }
  const oldest = Date.parse(selector.from) - DAY_MS;
  for await (const event of eventStore.readAll({ direction: 'backwards', filter: { tenant }, signal })) {
    // The log is ordered by the time of appending. The clocks of the processes differ by less than a day, so no earlier
    // event can be in the period.
    if (Date.parse(event.recorded_at) < oldest) return;
    yield event;
  }
}

function matcherOf(selector: BatchSelector): Batch['contains'] {
  if (selector.kind === 'correlation') return ({ metadata }) => metadata.$correlationId === selector.correlationId;
  const { keyId, from, to } = selector;
  return ({ metadata: { actor, occurred_at } }) =>
    actor.kind === 'api_key' && actor.id === keyId && occurred_at >= from && occurred_at <= to;
}
