import type { EventFilter } from '../../application/ports/event-store.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { categoryOf } from '../../domain/stream.ts';

/** Whether an event matches a filter. Every part that is present must match; an empty list matches nothing. */
export type EventMatcher = (event: RecordedEvent) => boolean;

/** Compiles a filter for events in memory. */
export function matcherOf(filter: EventFilter | undefined): EventMatcher {
  if (!filter) return () => true;
  const categories = filter.categories && new Set(filter.categories);
  const types = filter.types && new Set(filter.types);
  const { tenant, correlationId, actor } = filter;
  return (event) =>
    (categories === undefined || categories.has(categoryOf(event.stream))) &&
    (types === undefined || types.has(event.type)) &&
    (tenant === undefined || event.metadata.tenant === tenant) &&
    (correlationId === undefined || event.metadata.$correlationId === correlationId) &&
    (actor === undefined || event.metadata.actor.id === actor);
}
