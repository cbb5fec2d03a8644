import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { parseUserEvent } from '../../domain/identity/user-events.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Sealed, Vault } from '../ports/vault.ts';

/** One value that only the account made by setup ever holds: of setups that race, one wins. */
export const FIRST_ACCOUNT: ClaimRequest = { tenant: HOME_TENANT, scope: 'install', value: 'first account' };

/** Addresses are unique in the install. */
export function emailClaim(email: string): ClaimRequest {
  return { tenant: HOME_TENANT, scope: 'user/email', value: email };
}

/** The unique values that a user's stream holds now, for the reaping of claims that a crash left (rule 8). */
export async function claimsOfUser({ eventStore, vault }: { readonly eventStore: Pick<EventStore, 'readStream'>; readonly vault: Pick<Vault, 'openPersonal'> }, stream: string): Promise<readonly ClaimRequest[]> {
  const held: ClaimRequest[] = [];
  let address: ClaimRequest | undefined;
  for await (const recorded of eventStore.readStream(stream)) {
    const event = parseUserEvent(recorded);
    if (event.type === 'UserCreated') {
      if (event.data.first_account) held.push(FIRST_ACCOUNT);
      const email = await vault.openPersonal(event.data.user_id, sealedValue(event.data.email));
      address = email === undefined ? undefined : emailClaim(email);
    }
    if (event.type === 'UserDeleted') address = undefined;
  }
  return address ? [...held, address] : held;
}

/** A sealed value as an event holds it. @throws TypeError when it is none */
export function sealedValue(value: Readonly<Record<string, unknown>>): Sealed {
  const { k, n, c } = value;
  if (typeof k !== 'string' || typeof n !== 'string' || typeof c !== 'string') throw new TypeError('a sealed value is malformed');
  return { $sealed: 1, k, n, c };
}
