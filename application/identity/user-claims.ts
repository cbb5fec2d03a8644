import type { Fold } from '../../domain/decider.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { type UserEvent, userEvents } from '../../domain/identity/user-events.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import { foldStream } from '../fold-stream.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Vault } from '../ports/vault.ts';

/** A unique value that only the account of the setup claims: of concurrent setups, one wins. */
export const FIRST_ACCOUNT: ClaimRequest = { tenant: DEFAULT_TENANT, scope: 'install', value: 'first account' };

/** The claim on a normalised address. Addresses are unique in the installation. */
export function emailClaim(email: string): ClaimRequest {
  return { tenant: DEFAULT_TENANT, scope: 'user/email', value: email };
}

type ClaimingUser = {
  readonly firstAccount: boolean;
  /** Undefined before the creation and after the deletion of the user. */
  readonly address: { readonly userId: string; readonly email: SealedValue } | undefined;
};

const claimingUser: Fold<ClaimingUser, UserEvent> = {
  initialState: () => ({ firstAccount: false, address: undefined }),
  evolve(state, event) {
    if (event.type === 'UserCreated') {
      const { user_id: userId, email, first_account: firstAccount = false } = event.data;
      return { firstAccount, address: { userId, email } };
    }
    return event.type === 'UserDeleted' ? { ...state, address: undefined } : state;
  },
};

/** The unique values that a user's stream holds now. The reaper compares claims with them. */
export async function claimsOfUser(
  stream: string,
  {
    eventStore,
    vault,
  }: { readonly eventStore: Pick<EventStore, 'readStream'>; readonly vault: Pick<Vault, 'openPersonal'> },
): Promise<readonly ClaimRequest[]> {
  const { state } = await foldStream({ stream, decider: claimingUser, parse: userEvents.parse }, { eventStore });
  const { firstAccount, address } = state;
  const email = address && (await vault.openPersonal(address.userId, sealedValue(address.email)));
  return [...(firstAccount ? [FIRST_ACCOUNT] : []), ...(email === undefined ? [] : [emailClaim(email)])];
}

/** Narrows a sealed value of an event to the vault's type. @throws TypeError when it has another form */
export function sealedValue(value: Readonly<Record<string, unknown>>): SealedValue {
  const { k, n, c } = value;
  if (typeof k !== 'string' || typeof n !== 'string' || typeof c !== 'string')
    throw new TypeError('a sealed value is malformed');
  return { $sealed: 1, k, n, c };
}
