import { claimsOfEntry } from '../../../application/content/claims-of-entry.ts';
import { typeNameClaim } from '../../../application/content/take-type-name.ts';
import { foldStream } from '../../../application/fold-stream.ts';
import { claimsOfTenant } from '../../../application/identity/decide-on-tenant.ts';
import { claimsOfUser } from '../../../application/identity/user-claims.ts';
import type { ClaimRequest } from '../../../application/ports/claims.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import { contentTypeEvents } from '../../../domain/content/content-type-events.ts';
import { type StoredContentType, contentTypeDecider } from '../../../domain/content/content-type.ts';
import { parseStream } from '../../../domain/stream.ts';
import type { SharedStateNeeds } from '../compose-shared-state.ts';

export type UniqueValuesDependencies = {
  readonly eventStore: EventStore;
  readonly vault: Vault;
  readonly content: SharedStateNeeds;
};

/**
 * For the reaper of claims: the unique values that a stream holds according to its events.
 * @throws Error for a stream of a category that claims no values
 */
export function createUniqueValuesOfStream({
  eventStore,
  vault,
  content,
}: UniqueValuesDependencies): (owner: string) => Promise<readonly ClaimRequest[]> {
  async function typeOfTenant(tenant: string, typeId: string): Promise<StoredContentType | undefined> {
    const type = await content.typeById(typeId);
    return type?.tenant === tenant ? type : undefined;
  }

  async function ofContentType(
    stream: string,
    { tenant, id }: { readonly tenant: string; readonly id: string },
  ): Promise<readonly ClaimRequest[]> {
    // A change that makes fields unique leaves a claim that no stream holds. The reaper then calls this
    // function, which runs the backfill.
    await content.backfillClaims(id);
    const { state } = await foldStream(
      { stream, decider: contentTypeDecider, parse: contentTypeEvents.parse },
      { eventStore },
    );
    return state?.status === 'live' ? [typeNameClaim(tenant, state.definition.name)] : [];
  }

  return async (owner) => {
    const parts = parseStream(owner);
    if (parts?.category === 'entry') return claimsOfEntry(parts, { eventStore, typeOfTenant });
    if (parts?.category === 'content_type') return ofContentType(owner, parts);
    if (parts?.category === 'tenant') return claimsOfTenant(owner, { eventStore });
    if (parts?.category === 'user') return claimsOfUser(owner, { eventStore, vault });
    throw new Error(`streams of this category claim no unique values: ${owner}`);
  };
}
