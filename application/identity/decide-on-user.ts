import type { CommandContext } from '../../domain/context.ts';
import { streamName } from '../../domain/stream.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import type { UserCommand, UserState } from '../../domain/identity/user.ts';
import { decideUser, user } from '../../domain/identity/user.ts';
import type { UserEvent } from '../../domain/identity/user-events.ts';
import { changesCredentials, parseUserEvent } from '../../domain/identity/user-events.ts';
import type { CommandOutcome } from '../handle-command.ts';
import { handleCommand } from '../handle-command.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';

/** Users are install-wide: their streams and events belong to the first tenant (spec 4 A, sign-in details). */
export function userStream(userId: string): string {
  return streamName({ category: 'user', tenant: HOME_TENANT, id: userId });
}

/** Runs a command on a user's stream. `known`, the read model's row, saves reading the stream. @throws refusals of `decideUser` */
export async function decideOnUser(
  { eventStore, changes }: Pick<IdentityDependencies, 'eventStore' | 'changes'>,
  { userId, command, known }: { readonly userId: string; readonly command: UserCommand; readonly known?: UserRecord | undefined },
  context: CommandContext,
): Promise<CommandOutcome<UserState>> {
  const outcome = await handleCommand<UserState, UserEvent>({
    eventStore,
    stream: userStream(userId),
    decider: user,
    parse: parseUserEvent,
    context: { ...context, tenant: HOME_TENANT },
    decide: (state) => decideUser(command, state),
    snapshot: known && { state: { status: 'active', roles: known.roles, memberships: known.memberships, disabled: known.disabled, passwordHash: known.passwordHash, mfa: known.mfa ?? undefined }, revision: known.revision },
  });
  if (outcome.position !== undefined && outcome.events.some(changesCredentials)) changes.expect(outcome.position);
  return outcome;
}
