import { nameClaim } from '../../application/content/change-content-type.ts';
import { foldEntry } from '../../application/content/fold-entry.ts';
import { heldClaims } from '../../application/content/unique-values.ts';
import type { ClaimRequest } from '../../application/ports/claims.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Sealed, Vault } from '../../application/ports/vault.ts';
import { contentTypeDecider, parseContentTypeEvent } from '../../domain/content/content-type.ts';
import type { JsonObject } from '../../domain/json.ts';
import { parseUserEvent } from '../../domain/identity/user-events.ts';
import { parseStream } from '../../domain/stream.ts';
import type { Content } from './content.ts';

export type HeldValuesDependencies = { readonly eventStore: EventStore; readonly vault: Vault; readonly content: Pick<Content, 'typeById'> };

/** Makes the question that the claims' reaper asks: which unique values does a stream hold by its events (spec 5, rule 8)? */
export function createHeldValues({ eventStore, vault, content }: HeldValuesDependencies): (owner: string) => Promise<readonly ClaimRequest[]> {
  async function ofEntry(stream: string, tenant: string): Promise<readonly ClaimRequest[]> {
    const { state } = await foldEntry(eventStore, stream);
    if (!state || state.deleted) return [];
    const type = await content.typeById(state.typeId);
    return type?.tenant === tenant ? heldClaims(type, state.fields) : [];
  }

  async function ofContentType(stream: string, tenant: string): Promise<readonly ClaimRequest[]> {
    let state = contentTypeDecider.initialState();
    for await (const event of eventStore.readStream(stream)) state = contentTypeDecider.evolve(state, parseContentTypeEvent(event));
    return state.definition ? [nameClaim(tenant, state.definition.name)] : [];
  }

  async function ofUser(stream: string, tenant: string, id: string): Promise<readonly ClaimRequest[]> {
    let sealed: JsonObject | undefined;
    for await (const event of eventStore.readStream(stream)) {
      const fact = parseUserEvent(event);
      if (fact.type === 'UserCreated') sealed = fact.data.email;
      if (fact.type === 'UserDeleted') sealed = undefined;
    }
    const email = isSealed(sealed) ? await vault.openPersonal(id, sealed) : undefined;
    return email === undefined ? [] : [{ tenant, scope: 'user/email', value: email }];
  }

  return async (owner) => {
    const parts = parseStream(owner);
    if (parts?.category === 'entry') return ofEntry(owner, parts.tenant);
    if (parts?.category === 'content_type') return ofContentType(owner, parts.tenant);
    if (parts?.category === 'user') return ofUser(owner, parts.tenant, parts.id);
    throw new Error(`nobody claims unique values for ${owner}`);
  };
}

function isSealed(value: JsonObject | undefined): value is Sealed {
  return value?.['$sealed'] === 1;
}
