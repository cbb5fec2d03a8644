import { nameClaim } from '../../application/content/change-content-type.ts';
import { heldByEntry } from '../../application/content/held-values.ts';
import { claimsOfTenant } from '../../application/identity/decide-on-tenant.ts';
import { claimsOfUser } from '../../application/identity/user-claims.ts';
import type { ClaimRequest } from '../../application/ports/claims.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Vault } from '../../application/ports/vault.ts';
import { contentTypeDecider, parseContentTypeEvent } from '../../domain/content/content-type.ts';
import { parseStream } from '../../domain/stream.ts';
import type { Content } from './content.ts';

export type HeldValuesDependencies = { readonly eventStore: EventStore; readonly vault: Vault; readonly content: Pick<Content, 'typeById' | 'claimUnclaimed'> };

/** Makes the question that the claims' reaper asks: which unique values does a stream hold by its events (spec 5, rule 8)? */
export function createHeldValues({ eventStore, vault, content }: HeldValuesDependencies): (owner: string) => Promise<readonly ClaimRequest[]> {
  async function typeById(tenant: string, typeId: string) {
    const type = await content.typeById(typeId);
    return type?.tenant === tenant ? type : undefined;
  }

  async function ofContentType(stream: string, { tenant, id }: { readonly tenant: string; readonly id: string }): Promise<readonly ClaimRequest[]> {
    // A change that made fields unique asks for this look by a claim that no stream holds.
    await content.claimUnclaimed(id);
    let state = contentTypeDecider.initialState();
    for await (const event of eventStore.readStream(stream)) state = contentTypeDecider.evolve(state, parseContentTypeEvent(event));
    return state.definition ? [nameClaim(tenant, state.definition.name)] : [];
  }

  return async (owner) => {
    const parts = parseStream(owner);
    if (parts?.category === 'entry') return heldByEntry(parts, { eventStore, typeById });
    if (parts?.category === 'content_type') return ofContentType(owner, parts);
    if (parts?.category === 'tenant') return claimsOfTenant(eventStore, owner);
    if (parts?.category === 'user') return claimsOfUser({ eventStore, vault }, owner);
    throw new Error(`nobody claims unique values for ${owner}`);
  };
}
