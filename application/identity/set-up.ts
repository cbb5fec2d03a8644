import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import { createUser } from './create-user.ts';
import { HOME_TENANT, decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { openSession } from './open-session.ts';
import type { SignedIn } from './sign-in.ts';

export type SetUp = { readonly email: string; readonly password: string; readonly setupToken: string | undefined };

/** One value that only the first account ever holds: of setups that race, one wins. */
const FIRST_ACCOUNT = { tenant: HOME_TENANT, scope: 'install', value: 'first account' };

/**
 * Makes the first account, a super admin, and signs it in (spec 1, sign-in and session).
 * @throws `setup_complete`, `invalid_setup_token`, `validation_failed`, `weak_password`
 */
export async function setUp(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'claims' | 'reads' | 'sessions' | 'tokens' | 'passwords' | 'secrets' | 'vault' | 'passwordPolicy' | 'refreshTtlSeconds' | 'isSetupToken'>,
  { email, password, setupToken }: SetUp,
  context: CommandContext,
): Promise<SignedIn> {
  if (await dependencies.reads.anyUser()) throw refusal('setup_complete');
  if (setupToken === undefined || !dependencies.isSetupToken(setupToken)) throw refusal('invalid_setup_token');
  const created = await createUser(dependencies, { email, password, roles: [SUPER_ADMIN] }, context, [
    { request: FIRST_ACCOUNT, held: () => refusal('setup_complete') },
  ]);
  const session = { sessionId: context.newId(), userId: created.id, tenant: HOME_TENANT, sessionsRevision: 0 };
  const { position } = await decideOnUser(
    dependencies,
    { userId: created.id, command: { kind: 'sign_in', session: { session_id: session.sessionId, tenant: HOME_TENANT, method: 'setup' } } },
    { ...context, actor: { kind: 'user', id: created.id } },
  );
  const credentials = await openSession(dependencies, { session, roles: created.roles }, context);
  return { ...credentials, user: { id: created.id, email: created.email, roles: created.roles }, position: position ?? created.position };
}
