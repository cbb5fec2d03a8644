import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { MembershipDependencies } from './tenant-dependencies.ts';

/**
 * Ends a membership and the user's sessions in that tenant.
 * @returns the position to wait for
 * @throws `user_not_found`, `membership_not_found`
 */
export async function removeMembership(
  { userId, tenant }: { readonly userId: string; readonly tenant: string },
  context: CommandContext,
  dependencies: Omit<MembershipDependencies, 'tenants'>,
): Promise<GlobalPosition | undefined> {
  const user = await dependencies.reads.userById(userId);
  if (!user) throw refusal('user_not_found');
  const { position } = await decideOnUser(
    { userId, commandFor: () => ({ kind: 'remove_membership', tenant }), current: user },
    context,
    dependencies,
  );
  return position;
}
