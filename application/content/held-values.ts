import type { ContentType } from '../../domain/content/content-type.ts';
import { streamName } from '../../domain/stream.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import { foldEntry } from './fold-entry.ts';
import { heldClaims, HOLDS_NOTHING } from './unique-values.ts';

/**
 * The unique values that an entry's stream holds now, for the reaper of claims (spec 5, rule 8). Under today's definition of its type;
 * none for a deleted entry or type.
 */
export async function heldByEntry(
  { tenant, id }: { readonly tenant: string; readonly id: string },
  { eventStore, typeById }: { readonly eventStore: EventStore; readonly typeById: (tenant: string, typeId: string) => Promise<ContentType | undefined> },
): Promise<readonly ClaimRequest[]> {
  const stream = streamName({ category: 'entry', tenant, id });
  const { state } = await foldEntry(eventStore, stream);
  const type = state && !state.deleted ? await typeById(tenant, state.typeId) : undefined;
  if (!type) return [];
  const today = await foldEntry(eventStore, stream, { type });
  return heldClaims(type, today.state ?? HOLDS_NOTHING);
}
