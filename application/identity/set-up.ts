import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import { createUser } from './create-user.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { openSession } from './open-session.ts';
import type { SignedIn } from './complete-sign-in.ts';
import { foundHomeTenant } from './tenants.ts';

export type SetUp = { readonly email: string; readonly password: string; readonly setupToken: string | undefined };

/**
 * Makes the tenant `default` and the first account, a super admin, and signs it in (spec 1, sign-in and session).
 * @throws `setup_complete`, `invalid_setup_token`, `validation_failed`, `weak_password`
 */
export async function setUp(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'claims' | 'reads' | 'sessions' | 'tokens' | 'passwords' | 'secrets' | 'vault' | 'passwordPolicy' | 'refreshTtlSeconds' | 'isSetupToken' | 'tenants'>,
  { email, password, setupToken }: SetUp,
  context: CommandContext,
): Promise<SignedIn> {
  if (await dependencies.reads.anyUser()) throw refusal('setup_complete');
  if (setupToken === undefined || !dependencies.isSetupToken(setupToken)) throw refusal('invalid_setup_token');
  // First: what a crash leaves is found by the next try, which an account would refuse.
  await foundHomeTenant(dependencies, context);
  const created = await createUser(dependencies, { email, password, roles: [SUPER_ADMIN] }, context, { firstAccount: true });
  const session = { sessionId: context.newId(), userId: created.id, tenant: HOME_TENANT, sessionsRevision: 0 };
  const { position } = await decideOnUser(
    dependencies,
    { userId: created.id, command: { kind: 'sign_in', session: { session_id: session.sessionId, tenant: HOME_TENANT, method: 'setup' } } },
    { ...context, actor: { kind: 'user', id: created.id } },
  );
  const credentials = await openSession(dependencies, { session, roles: created.roles }, context);
  return { ...credentials, user: { id: created.id, email: created.email, roles: created.roles }, position: position ?? created.position };
}
