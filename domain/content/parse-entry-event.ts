import type { RecordedEvent } from '../event.ts';
import { parseStream } from '../stream.ts';
import type { EntryFact } from './entry.ts';
import type { EntryEvent } from './events.ts';

const TYPES: ReadonlySet<string> = new Set<EntryEvent['type']>([
  'EntryCreated', 'EntryFieldsChanged', 'EntryPublished', 'EntryUnpublished', 'EntryArchived', 'EntryUnarchived', 'EntryDeleted', 'EntryUndeleted',
]);

/**
 * Reads a stored event of an entry's stream. Upcasters of older schema versions belong here.
 * @throws RangeError for a type that is none of an entry's
 */
export function parseEntryEvent(event: RecordedEvent): EntryFact {
  const parts = parseStream(event.stream);
  if (parts?.category !== 'entry' || !isEntryEvent(event)) throw new RangeError(`no event of an entry: ${event.type} in ${event.stream}`);
  return { ...event, entryId: parts.id, at: event.metadata.occurred_at, actor: event.metadata.actor };
}

function isEntryEvent(event: RecordedEvent): event is RecordedEvent & EntryEvent {
  return TYPES.has(event.type);
}
