import type { ContentType } from '../../domain/content/content-type.ts';
import { streamName } from '../../domain/stream.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import { foldEntry } from './fold-entry.ts';
import { NO_UNIQUE_VALUES, heldClaims } from './unique-values.ts';

export type ClaimsOfEntryDependencies = {
  readonly eventStore: EventStore;
  /** Loads a live content type. */
  readonly typeOfTenant: (tenant: string, typeId: string) => Promise<ContentType | undefined>;
};

/**
 * The unique values that an entry holds according to its stream, under the current definition of its type. The reaper
 * of claims compares them with the claims.
 * @returns an empty list for a deleted entry and for an entry of a deleted type
 */
export async function claimsOfEntry(
  { tenant, id }: { readonly tenant: string; readonly id: string },
  { eventStore, typeOfTenant }: ClaimsOfEntryDependencies,
): Promise<readonly ClaimRequest[]> {
  const stream = streamName({ category: 'entry', tenant, id });
  const { state } = await foldEntry({ stream }, { eventStore });
  const type = state && !state.deleted ? await typeOfTenant(tenant, state.typeId) : undefined;
  if (!type) return [];
  const current = await foldEntry({ stream, type }, { eventStore });
  return heldClaims(type, current.state ?? NO_UNIQUE_VALUES);
}
