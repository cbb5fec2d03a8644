import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { parseStream } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';

/** Names a batch of events: those of one correlation id (a request, an import), or those a key wrote in a time (RFC 3339, UTC, both ends inclusive). */
export type BatchSelector =
  | { readonly kind: 'correlation'; readonly correlationId: string }
  | { readonly kind: 'api_key'; readonly keyId: string; readonly from: string; readonly to: string };

/** An event of the batch that is none of an entry. */
export type NotUndoable = { readonly kind: string; readonly id: string; readonly event_id: string; readonly type: string };

export type Batch = {
  /** Streams of the entries that the batch wrote, the one written last first: what was built on another goes before it. */
  readonly streams: readonly string[];
  /** Ids of those entries. */
  readonly ids: ReadonlySet<string>;
  readonly events: number;
  /** The first of them; `notUndoableCount` counts all. */
  readonly notUndoable: readonly NotUndoable[];
  readonly notUndoableCount: number;
  readonly contains: (event: RecordedEvent) => boolean;
};

/** Entries that one undo takes on. */
const MOST_ENTRIES = 10_000;
const MOST_LISTED = 200;
const DAY_MS = 86_400_000;

/**
 * Finds the tenant's events of a batch. By correlation id the store's index answers; a key's events are looked for in the log from its head back to
 * `from`. @throws `undo_too_large` for a batch of more than 10,000 entries
 */
export async function findBatch({ tenant, selector, signal }: { readonly tenant: string; readonly selector: BatchSelector; readonly signal: AbortSignal }, eventStore: EventStore): Promise<Batch> {
  const contains = matcherOf(selector);
  const last = new Map<string, GlobalPosition>();
  const notUndoable: NotUndoable[] = [];
  let notUndoableCount = 0;
  let events = 0;
  for await (const event of candidates(tenant, selector, eventStore, signal)) {
    if (!contains(event)) continue;
    events += 1;
    const parts = parseStream(event.stream);
    if (parts?.category === 'entry') {
      const known = last.get(event.stream);
      if (known === undefined || known < event.position) last.set(event.stream, event.position);
      if (last.size > MOST_ENTRIES) throw refusal('undo_too_large');
      continue;
    }
    notUndoableCount += 1;
    if (notUndoable.length < MOST_LISTED) notUndoable.push({ kind: parts?.category ?? 'unknown', id: parts?.id ?? event.stream, event_id: event.id, type: event.type });
  }
  const streams = [...last].toSorted(([, a], [, b]) => (a < b ? 1 : -1)).map(([stream]) => stream);
  const ids = new Set(streams.flatMap((stream) => parseStream(stream)?.id ?? []));
  return { streams, ids, events, notUndoable, notUndoableCount, contains };
}

async function* candidates(tenant: string, selector: BatchSelector, eventStore: EventStore, signal: AbortSignal): AsyncIterable<RecordedEvent> {
  if (selector.kind === 'correlation') {
    yield* eventStore.readAll({ filter: { tenant, correlationId: selector.correlationId }, signal });
    return;
  }
  const oldest = Date.parse(selector.from) - DAY_MS;
  for await (const event of eventStore.readAll({ direction: 'backwards', filter: { tenant }, signal })) {
    // The log is in order of appending: nothing of the time can follow once a whole day lies between (clocks of replicas differ).
    if (Date.parse(event.recorded_at) < oldest) return;
    yield event;
  }
}

function matcherOf(selector: BatchSelector): Batch['contains'] {
  if (selector.kind === 'correlation') return ({ metadata }) => metadata.$correlationId === selector.correlationId;
  const { keyId, from, to } = selector;
  return ({ metadata: { actor, occurred_at } }) => actor.kind === 'api_key' && actor.id === keyId && occurred_at >= from && occurred_at <= to;
}
