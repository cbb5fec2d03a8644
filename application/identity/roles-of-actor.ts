import type { Actor } from '../../domain/event.ts';
import { belongsTo } from '../../domain/identity/memberships.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import { rolesOfUserIn } from './session-validity.ts';

/**
 * The current roles of an actor in a tenant; undefined for an actor that is not a person, for a disabled or deleted
 * account and for a person who no longer belongs to the tenant.
 */
export async function rolesOfActor(
  { tenant, actor }: { readonly tenant: string; readonly actor: Actor },
  { userById }: Pick<IdentityReads, 'userById'>,
): Promise<readonly string[] | undefined> {
  const user = actor.kind === 'user' ? await userById(actor.id) : undefined;
  return user && !user.disabled && belongsTo(user, tenant) ? rolesOfUserIn(user, tenant) : undefined;
}
