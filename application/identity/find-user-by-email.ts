import { parseStream } from '../../domain/stream.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { FindAccountDependencies } from './account-dependencies.ts';
import { emailClaim } from './user-claims.ts';

/** An id that no user has. */
const NO_USER_ID = '00000000-0000-0000-0000-000000000000';

/**
 * The account of a normalised e-mail address. The claim on the address leads to the account: events and read models
 * hold no digest of an address, so an erased person cannot be found by it.
 */
export async function findUserByEmail(
  { email }: { readonly email: string },
  { claims, reads }: FindAccountDependencies,
): Promise<UserRecord | undefined> {
  const owner = await claims.ownerOf(emailClaim(email));
  const userId = owner === undefined ? undefined : parseStream(owner)?.id;
  // Query in both cases, so that the response time does not reveal whether the account exists.
  return reads.userById(userId ?? NO_USER_ID);
}
