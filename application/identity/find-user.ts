import { parseStream } from '../../domain/stream.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { emailClaim } from './user-claims.ts';

/**
 * The account of a normalised address. The claim on the address leads to it: events and read models hold nothing that an address could be
 * compared with, so that an erased person is found by nothing (rule 11).
 */
export async function findUserByEmail({ claims, reads }: Pick<IdentityDependencies, 'claims' | 'reads'>, email: string): Promise<UserRecord | undefined> {
  const owner = await claims.ownerOf(emailClaim(email));
  const userId = owner === undefined ? undefined : parseStream(owner)?.id;
  return userId === undefined ? undefined : reads.userById(userId);
}
