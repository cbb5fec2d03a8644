import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { CreateUserDependencies } from './account-dependencies.ts';
import type { SignedIn } from './complete-sign-in.ts';
import { createUser } from './create-user.ts';
import { decideOnUser } from './decide-on-user.ts';
import { ensureDefaultTenant } from './ensure-default-tenant.ts';
import { issueSession } from './issue-session.ts';
import type { CompleteSignInDependencies } from './sign-in-dependencies.ts';
import type { TenantDependencies } from './tenant-dependencies.ts';

export type FirstAccount = {
  readonly email: string;
  readonly password: string;
  readonly setupToken: string | undefined;
};

export type CreateFirstAccountDependencies = CreateUserDependencies &
  CompleteSignInDependencies &
  TenantDependencies & {
    readonly reads: Pick<IdentityReads, 'anyUser'>;
    /** Compares with the setup token in constant time. */
    readonly isSetupToken: (presented: string) => boolean;
  };

/**
 * Creates the default tenant and the first account, a super admin, and signs it in.
 * @throws `setup_complete`, `invalid_setup_token`, `validation_failed`, `weak_password`
 */
export async function createFirstAccount(
  { email, password, setupToken }: FirstAccount,
  context: CommandContext,
  dependencies: CreateFirstAccountDependencies,
): Promise<SignedIn> {
  if (await dependencies.reads.anyUser()) throw refusal('setup_complete');
  if (setupToken === undefined || !dependencies.isSetupToken(setupToken)) throw refusal('invalid_setup_token');
  // The tenant comes first: after a crash in between, setup can run again, because no account exists yet.
  await ensureDefaultTenant(context, dependencies);
  const created = await createUser(
    { email, password, roles: [SUPER_ADMIN], firstAccount: true },
    context,
    dependencies,
  );
  const session = { sessionId: context.newId(), userId: created.id, tenant: DEFAULT_TENANT, sessionsRevision: 0 };
  const { position } = await decideOnUser(
    {
      userId: created.id,
      commandFor: () => ({ kind: 'sign_in', sessionId: session.sessionId, tenant: DEFAULT_TENANT, method: 'setup' }),
    },
    { ...context, actor: { kind: 'user', id: created.id } },
    dependencies,
  );
  const credentials = await issueSession({ session, roles: created.roles }, context, dependencies);
  return {
    ...credentials,
    user: { id: created.id, email: created.email, roles: created.roles },
    position: position ?? created.position,
  };
}
