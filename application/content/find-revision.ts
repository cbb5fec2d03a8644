import { uuidPattern } from '../../domain/content/patterns.ts';
import type { StreamRevision } from '../../domain/event.ts';
import type { EventStore } from '../ports/event-store.ts';

/**
 * Finds a revision by the id of its event or by its version (1, 2, 3 …).
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
  for await (const event of eventStore.readStream(stream, { direction: 'backwards' })) if (event.id === id) return event.revision;
  return undefined;
}
