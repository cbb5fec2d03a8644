import type { CommandContext } from '../domain/context.ts';
import type { GlobalPosition } from '../domain/event.ts';
import type { EventStore } from './ports/event-store.ts';

/**
 * Looks in a stream that the request creates for the events of an earlier attempt of the same request.
 * @returns the position of the last of them; undefined when there are none, and for a request that is no repeat
 */
export async function findEarlierWrite(
  { stream }: { readonly stream: string },
  { causationId, repeatable }: CommandContext,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
): Promise<GlobalPosition | undefined> {
  if (!repeatable?.isRepeat) return undefined;
  let position: GlobalPosition | undefined;
  for await (const event of eventStore.readStream(stream)) {
    if (event.metadata.$causationId !== causationId) break;
    position = event.position;
  }
  return position;
}
