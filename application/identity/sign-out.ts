import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { refreshDigest } from './user-secrets.ts';

/** Ends the caller's session, and the one of `refreshToken` where it is the caller's too (spec 1, sign-in and session). @returns position to wait for */
export async function signOut(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'sessions' | 'vault'>,
  { userId, sessionId, refreshToken }: { readonly userId: string; readonly sessionId: string; readonly refreshToken?: string | undefined },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { sessions, vault } = dependencies;
  const named = refreshToken === undefined ? undefined : await sessions.sessionOf(refreshDigest(vault, refreshToken));
  const ids = new Set([sessionId, ...(named?.userId === userId ? [named.sessionId] : [])]);
  let last: GlobalPosition | undefined;
  for (const id of ids) {
    if (!(await sessions.end(id))) continue;
    const { position } = await decideOnUser(dependencies, { userId, command: { kind: 'end_session', sessionId: id, reason: 'signed_out' } }, context);
    last = position ?? last;
  }
  return last;
}
