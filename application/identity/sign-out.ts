import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Sessions } from '../ports/sessions.ts';
import type { Vault } from '../ports/vault.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import { refreshDigest } from './user-secrets.ts';

/**
 * Ends the caller's session, and the session of `refreshToken` when it belongs to the caller too.
 * @returns the position to wait for
 */
export async function signOut(
  {
    userId,
    sessionId,
    refreshToken,
  }: { readonly userId: string; readonly sessionId: string; readonly refreshToken?: string | undefined },
  context: CommandContext,
  dependencies: IdentityWriteDependencies & { readonly sessions: Sessions; readonly vault: Pick<Vault, 'digest'> },
): Promise<GlobalPosition | undefined> {
  const { sessions, vault } = dependencies;
  const sessionOfToken =
    refreshToken === undefined
      ? undefined
      : await sessions.sessionOf(refreshDigest({ token: refreshToken }, { vault }));
  const ids = new Set([sessionId, ...(sessionOfToken?.userId === userId ? [sessionOfToken.sessionId] : [])]);
  let last: GlobalPosition | undefined;
  for (const id of ids) {
    if (!(await sessions.end(id))) continue;
    const { position } = await decideOnUser(
      { userId, commandFor: () => ({ kind: 'end_session', sessionId: id, reason: 'signed_out' }) },
      context,
      dependencies,
    );
    last = position ?? last;
  }
  return last;
}
