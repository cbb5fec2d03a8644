import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { SignedIn } from './complete-sign-in.ts';
import { decideOnUser } from './decide-on-user.ts';
import { refreshExpiry } from './issue-session.ts';
import { refuseClosedTenant } from './refuse-closed-tenant.ts';
import { isSessionValid, rolesOfUserIn } from './session-validity.ts';
import type { CompleteSignInDependencies } from './sign-in-dependencies.ts';
import { csrfToken, refreshDigest } from './user-secrets.ts';

type RefreshSessionDependencies = CompleteSignInDependencies & { readonly reads: IdentityReads };

/**
 * Replaces a refresh token by a new one and issues a new access token. Reuse of a replaced token ends the session with
 * all its tokens.
 * @throws `invalid_refresh_token`, `tenant_disabled` (the token stays valid for when the tenant is enabled again)
 */
export async function refreshSession(
  { refreshToken }: { readonly refreshToken: string },
  context: CommandContext,
  dependencies: RefreshSessionDependencies,
): Promise<SignedIn> {
  const { reads, sessions, tokens, secrets, vault, refreshTtlSeconds } = dependencies;
  const now = context.now();
  await refuseDisabledTenant(refreshToken, dependencies);
  const next = secrets.refreshToken();
  const rotation = await sessions.rotate({
    digest: refreshDigest({ token: refreshToken }, { vault }),
    nextDigest: refreshDigest({ token: next }, { vault }),
    nextExpiresAt: refreshExpiry(now, refreshTtlSeconds),
    now,
  });
  if (rotation.outcome === 'refused') throw refusal('invalid_refresh_token');
  const { session } = rotation;
  if (rotation.outcome === 'reused') {
    const actor = { kind: 'user', id: session.userId } as const;
    await decideOnUser(
      {
        userId: session.userId,
        commandFor: () => ({ kind: 'end_session', sessionId: session.sessionId, reason: 'refresh_token_reused' }),
      },
      { ...context, actor },
      dependencies,
    );
    throw refusal('invalid_refresh_token');
  }

  const user = await reads.userById(session.userId);
  const member =
    user && (user.roles.includes(SUPER_ADMIN) || user.memberships.some(({ tenant }) => tenant === session.tenant));
  const email = user && (await vault.openPersonal(user.id, user.email));
  if (!user || user.disabled || !isSessionValid(user, session) || !member || email === undefined) {
    await sessions.end(session.sessionId);
    throw refusal('invalid_refresh_token');
  }
  const roles = rolesOfUserIn(user, session.tenant);
  const { token, expiresIn } = await tokens.sign({ ...session, roles }, now);
  return {
    token,
    csrfToken: csrfToken({ sessionId: session.sessionId }, { vault }),
    refreshToken: next,
    expiresIn,
    user: { id: user.id, email, roles },
    position: undefined,
  };
}

async function refuseDisabledTenant(
  refreshToken: string,
  { sessions, reads, tenants, vault }: Pick<RefreshSessionDependencies, 'sessions' | 'reads' | 'tenants' | 'vault'>,
): Promise<void> {
  const session = await sessions.sessionOf(refreshDigest({ token: refreshToken }, { vault }));
  if (!session || tenants.state(session.tenant) !== 'disabled') return;
  const roles = (await reads.userById(session.userId))?.roles ?? [];
  refuseClosedTenant({ tenant: session.tenant, roles, unknownTenant: 'invalid_credentials' }, { tenants });
}
