import type { CommandContext } from '../../domain/context.ts';
import type { SessionRecord } from '../ports/sessions.ts';
import { refuseClosedTenant } from './refuse-closed-tenant.ts';
import type { SessionDependencies } from './sign-in-dependencies.ts';
import { csrfToken, refreshDigest } from './user-secrets.ts';

/** The credentials of a session, as the client gets them. */
export type SessionCredentials = {
  readonly token: string;
  readonly csrfToken: string;
  readonly refreshToken: string;
  /** Seconds until `token` expires. */
  readonly expiresIn: number;
};

/** Opens a session after the credentials were verified. @throws `tenant_disabled`, `invalid_credentials` */
export async function issueSession(
  { session, roles }: { readonly session: SessionRecord; readonly roles: readonly string[] },
  context: CommandContext,
  { tenants, sessions, tokens, secrets, vault, refreshTtlSeconds }: SessionDependencies,
): Promise<SessionCredentials> {
  refuseClosedTenant({ tenant: session.tenant, roles, unknownTenant: 'invalid_credentials' }, { tenants });
  const now = context.now();
  const refreshToken = secrets.refreshToken();
  await sessions.open(session, {
    digest: refreshDigest({ token: refreshToken }, { vault }),
    expiresAt: refreshExpiry(now, refreshTtlSeconds),
  });
  const { token, expiresIn } = await tokens.sign({ ...session, roles }, now);
  return { token, csrfToken: csrfToken({ sessionId: session.sessionId }, { vault }), refreshToken, expiresIn };
}

/** Expiry of a refresh token issued at `now`. */
export function refreshExpiry(now: Date, ttlSeconds: number): Date {
  return new Date(now.getTime() + ttlSeconds * 1000);
}
