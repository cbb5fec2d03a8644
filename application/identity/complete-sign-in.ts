import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { MfaMethod } from '../../domain/identity/mfa.ts';
import type { SignInMethod } from '../../domain/identity/user-events.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import { decideOnUser } from './decide-on-user.ts';
import { type SessionCredentials, issueSession } from './issue-session.ts';
import { refuseClosedTenant } from './refuse-closed-tenant.ts';
import { rolesOfUserIn, sessionsRevisionIn } from './session-validity.ts';
import type { CompleteSignInDependencies } from './sign-in-dependencies.ts';

export type SignedIn = SessionCredentials & {
  readonly user: { readonly id: string; readonly email: string; readonly roles: readonly string[] };
  readonly position: GlobalPosition | undefined;
};

/** A user whose first factor was right. */
export type FirstFactor = { readonly user: UserRecord; readonly tenant: string; readonly method: SignInMethod };

/**
 * Opens the session of a user who passed all required factors.
 * @throws `tenant_disabled`, `invalid_credentials` (the account or tenant was disabled or deleted meanwhile)
 */
export async function completeSignIn(
  { user, tenant, method, secondFactor }: FirstFactor & { readonly secondFactor?: MfaMethod },
  context: CommandContext,
  dependencies: CompleteSignInDependencies,
): Promise<SignedIn> {
  const roles = rolesOfUserIn(user, tenant);
  refuseClosedTenant({ tenant, roles, unknownTenant: 'invalid_credentials' }, dependencies);
  const email = await dependencies.vault.openPersonal(user.id, user.email);
  if (email === undefined) throw refusal('invalid_credentials');
  const sessionId = context.newId();
  const { position } = await decideOnUser(
    {
      userId: user.id,
      commandFor: () => ({ kind: 'sign_in', sessionId, tenant, method, secondFactor }),
      current: user,
    },
    { ...context, actor: { kind: 'user', id: user.id } },
    dependencies,
  );
  const credentials = await issueSession(
    { session: { sessionId, userId: user.id, tenant, sessionsRevision: sessionsRevisionIn(user, tenant) }, roles },
    context,
    dependencies,
  );
  return { ...credentials, user: { id: user.id, email, roles }, position };
}
