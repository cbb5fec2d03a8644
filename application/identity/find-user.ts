import { parseStream } from '../../domain/stream.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { emailClaim } from './user-claims.ts';

const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * The account of a normalised address. The claim on the address leads to it: events and read models hold nothing that an address could be
 * compared with, so that an erased person is found by nothing (rule 11).
 */
export async function findUserByEmail({ claims, reads }: Pick<IdentityDependencies, 'claims' | 'reads'>, email: string): Promise<UserRecord | undefined> {
  const owner = await claims.ownerOf(emailClaim(email));
  const userId = owner === undefined ? undefined : parseStream(owner)?.id;
  // Nobody is looked up as well: the time of an answer must not tell whether there is an account.
  return reads.userById(userId ?? NOBODY);
}
