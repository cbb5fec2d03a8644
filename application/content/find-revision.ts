import type { StreamRevision } from '../../domain/event.ts';
import { UUID_PATTERN } from '../../domain/uuid.ts';
import type { EventStore } from '../ports/event-store.ts';

/** Maximum difference between the clocks of two machines. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/**
 * Finds a revision of a stream by the id of its event or by its version (1, 2, 3 …). A store without an index of event
 * ids is read backwards, until the events are older than the id.
 * @returns undefined when the stream has no such revision
 */
export async function findRevision(
  { stream, revision }: { readonly stream: string; readonly revision: string },
  { eventStore }: { readonly eventStore: EventStore },
): Promise<StreamRevision | undefined> {
  if (/^[1-9]\d{0,14}$/.test(revision)) {
    const from = Number(revision) - 1;
    for await (const event of eventStore.readStream(stream, { from, limit: 1 }))
      return event.revision === from ? from : undefined;
    return undefined;
  }
  if (!UUID_PATTERN.test(revision)) return undefined;
  const id = revision.toLowerCase();
  if (eventStore.capabilities.indexedIds) {
    const found = await eventStore.findEvent(id);
    return found?.stream === stream ? found.revision : undefined;
  }
  const oldest = creationTimeOf(id) - CLOCK_MARGIN_MS;
  for await (const event of eventStore.readStream(stream, { direction: 'backwards' })) {
    if (event.id === id) return event.revision;
    if (Date.parse(event.recorded_at) < oldest) return undefined;
  }
  return undefined;
}

/** Creation time of a version 7 UUID in milliseconds since the epoch; -Infinity for other versions. */
function creationTimeOf(id: string): number {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : -Infinity;
}
