import { uuidPattern } from '../../domain/content/patterns.ts';
import type { StreamRevision } from '../../domain/event.ts';
import type { EventStore } from '../ports/event-store.ts';

/** How far clocks of different machines may be apart. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/**
 * Finds a revision by the id of its event or by its version (1, 2, 3 …). By id it asks the store's index; where there is none, it reads the stream
 * back to the id's own time.
 * @returns its place in the stream; undefined when the stream has none such
 */
export async function findRevision({ eventStore, stream, revision }: { readonly eventStore: EventStore; readonly stream: string; readonly revision: string }): Promise<StreamRevision | undefined> {
  if (/^[1-9]\d{0,14}$/.test(revision)) {
    const from = Number(revision) - 1;
    for await (const event of eventStore.readStream(stream, { from, limit: 1 })) return event.revision === from ? from : undefined;
    return undefined;
  }
  if (!uuidPattern.test(revision)) return undefined;
  const id = revision.toLowerCase();
  if (eventStore.capabilities.indexedIds) {
    const found = await eventStore.findEvent(id);
    return found?.stream === stream ? found.revision : undefined;
  }
  const oldest = madeAt(id) - CLOCK_MARGIN_MS;
  for await (const event of eventStore.readStream(stream, { direction: 'backwards' })) {
    if (event.id === id) return event.revision;
    if (Date.parse(event.recorded_at) < oldest) return undefined;
  }
  return undefined;
}

/** When a UUID of version 7 was made, in milliseconds; the beginning of time for others. */
function madeAt(id: string): number {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : -Infinity;
}
