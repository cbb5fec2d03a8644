import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Claims } from '../ports/claims.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { Vault } from '../ports/vault.ts';
import { type TakenValues, takenValues, withClaims } from '../with-claims.ts';
import type { ChangeUserDependencies } from './account-dependencies.ts';
import { userStream } from './decide-on-user.ts';
import { decideWithSuperAdminCount } from './decide-with-super-admin-count.ts';
import { emailClaim } from './user-claims.ts';

/**
 * Deletes a user and releases the claim on their address.
 * @returns the position to wait for
 * @throws `user_not_found`, `last_super_admin`
 */
export async function deleteUser(
  { userId }: { readonly userId: string },
  context: CommandContext,
  dependencies: ChangeUserDependencies & { readonly claims: Claims; readonly vault: Pick<Vault, 'openPersonal'> },
): Promise<GlobalPosition | undefined> {
  return withClaims(
    {
      work(session) {
        const owner = userStream(userId);
        const before = async (user: UserRecord | undefined): Promise<TakenValues | undefined> => {
          const email = user && (await dependencies.vault.openPersonal(userId, user.email));
          if (email === undefined) return undefined;
          await session.take({ owner, claimed: [], released: [emailClaim(email)] });
          return takenValues({ owner, refuse: () => undefined }, session);
        };
        return decideWithSuperAdminCount(
          { userId, before, commandFor: (otherSuperAdmins) => ({ kind: 'delete', otherSuperAdmins }) },
          context,
          dependencies,
        );
      },
    },
    dependencies,
  );
}
