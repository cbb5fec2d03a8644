import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { SignedIn } from './complete-sign-in.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { refreshExpiry } from './open-session.ts';
import { outlasts, refuseClosedTenant, rolesOf } from './session-standing.ts';
import { csrfToken, refreshDigest } from './user-secrets.ts';

/**
 * Replaces a refresh token by the next and gives a new access token. A token used before ends its whole family, access tokens included.
 * @throws `invalid_refresh_token`, `tenant_disabled`: then the token stays good for the day when the tenant is enabled again
 */
export async function refreshSession(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'reads' | 'sessions' | 'tokens' | 'secrets' | 'vault' | 'refreshTtlSeconds' | 'tenants'>,
  { refreshToken }: { readonly refreshToken: string },
  context: CommandContext,
): Promise<SignedIn> {
  const { reads, sessions, tokens, secrets, vault, refreshTtlSeconds } = dependencies;
  const now = context.now();
  await refuseDisabledTenant(dependencies, refreshToken);
  const next = secrets.refreshToken();
  const rotation = await sessions.rotate({
    digest: refreshDigest(vault, refreshToken), nextDigest: refreshDigest(vault, next), nextExpiresAt: refreshExpiry(now, refreshTtlSeconds), now,
  });
  if (rotation.outcome === 'refused') throw refusal('invalid_refresh_token');
  const { session } = rotation;
  if (rotation.outcome === 'reused') {
    const actor = { kind: 'user', id: session.userId } as const;
    await decideOnUser(dependencies, { userId: session.userId, command: { kind: 'end_session', sessionId: session.sessionId, reason: 'refresh_token_reused' } }, { ...context, actor });
    throw refusal('invalid_refresh_token');
  }

  const user = await reads.userById(session.userId);
  const member = user && (user.roles.includes(SUPER_ADMIN) || user.memberships.some(({ tenant }) => tenant === session.tenant));
  const email = user && (await vault.openPersonal(user.id, user.email));
  if (!user || user.disabled || !outlasts(user, session) || !member || email === undefined) {
    await sessions.end(session.sessionId);
    throw refusal('invalid_refresh_token');
  }
  const roles = rolesOf(user, session.tenant);
  const { token, expiresIn } = await tokens.sign({ ...session, roles }, now);
  return { token, csrfToken: csrfToken(vault, session.sessionId), refreshToken: next, expiresIn, user: { id: user.id, email, roles }, position: undefined };
}

async function refuseDisabledTenant({ sessions, reads, tenants, vault }: Pick<IdentityDependencies, 'sessions' | 'reads' | 'tenants' | 'vault'>, refreshToken: string): Promise<void> {
  const held = await sessions.sessionOf(refreshDigest(vault, refreshToken));
  if (!held || tenants.state(held.tenant) !== 'disabled') return;
  refuseClosedTenant(tenants, held.tenant, (await reads.userById(held.userId))?.roles ?? []);
}
