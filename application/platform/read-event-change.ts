import { refusal } from '../../domain/errors.ts';
import { type AuditReader, isVisibleTo } from '../../domain/platform/audit-audience.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { ChangeOf } from '../content/entry-history.ts';
import type { EventStore } from '../ports/event-store.ts';
import { type ContentChangeValue, type PublishedChange, contentChangeOf } from './content-change-message.ts';

export type ReadEventChangeDependencies = {
  readonly eventStore: Pick<EventStore, 'findEvent'>;
  readonly changeOf: ChangeOf<PublishedChange>;
};

/**
 * Reads the entry before and after one of its events, as the topic of content changes has it.
 * @throws `event_not_found`, also for an event that the reader may not see and for one that changes no entry
 */
export async function readEventChange(
  { eventId, ...reader }: AuditReader & { readonly eventId: string },
  { eventStore, changeOf }: ReadEventChangeDependencies,
): Promise<ContentChangeValue> {
  const event = await eventStore.findEvent(eventId);
  if (!event || !isVisibleTo(event, reader) || categoryOf(event.stream) !== 'entry') throw refusal('event_not_found');
  const value = contentChangeOf({ event, change: await changeOf(event) });
  if (!value) throw refusal('event_not_found');
  return value;
}
