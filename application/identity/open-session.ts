import type { CommandContext } from '../../domain/context.ts';
import type { SessionRecord } from '../ports/sessions.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { refuseClosedTenant } from './session-standing.ts';
import { csrfToken, refreshDigest } from './user-secrets.ts';

/** What a signed-in person holds (spec 1, session credentials). */
export type SessionCredentials = {
  readonly token: string;
  readonly csrfToken: string;
  readonly refreshToken: string;
  /** Seconds until `token` expires. */
  readonly expiresIn: number;
};

/** Opens a session for a person whose credentials were right. @throws `tenant_disabled` */
export async function openSession(
  { tenants, sessions, tokens, secrets, vault, refreshTtlSeconds }: Pick<IdentityDependencies, 'sessions' | 'tokens' | 'secrets' | 'vault' | 'refreshTtlSeconds' | 'tenants'>,
  { session, roles }: { readonly session: SessionRecord; readonly roles: readonly string[] },
  context: CommandContext,
): Promise<SessionCredentials> {
  refuseClosedTenant(tenants, session.tenant, roles);
  const now = context.now();
  const refreshToken = secrets.refreshToken();
  await sessions.open(session, { digest: refreshDigest(vault, refreshToken), expiresAt: refreshExpiry(now, refreshTtlSeconds) });
  const { token, expiresIn } = await tokens.sign({ ...session, roles }, now);
  return { token, csrfToken: csrfToken(vault, session.sessionId), refreshToken, expiresIn };
}

/** When a refresh token made now expires. */
export function refreshExpiry(now: Date, ttlSeconds: number): Date {
  return new Date(now.getTime() + ttlSeconds * 1000);
}
