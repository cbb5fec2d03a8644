import type { CommandContext } from '../../domain/context.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { changesCredentials, userEvents } from '../../domain/identity/user-events.ts';
import { type UserCommand, type UserState, userDecider } from '../../domain/identity/user.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { TakenValues } from '../with-claims.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

/** Stream of a user. Users belong to the installation, so their streams and events belong to the default tenant. */
export function userStream(userId: string): string {
  return streamName({ category: 'user', tenant: DEFAULT_TENANT, id: userId });
}

export type DecideOnUserInput = {
  readonly userId: string;
  readonly commandFor: CommandFor<UserState, UserCommand>;
  readonly current?: UserRecord | undefined;
  readonly takenValues?: TakenValues | undefined;
};

/**
 * Runs a command on a user's stream.
 * @param input `known` is the row of the read model; with it the stream is read only after a conflict.
 *   `taken`: unique values that the append takes or releases.
 * @throws refusals of `userDecider` and of `commandFor`
 */
export async function decideOnUser(
  { userId, commandFor, current: known, takenValues: taken }: DecideOnUserInput,
  context: CommandContext,
  { eventStore, changes }: IdentityWriteDependencies,
): Promise<CommandOutcome<UserState>> {
  const outcome = await handleCommand(
    {
      stream: userStream(userId),
      decider: userDecider,
      parse: userEvents.parse,
      decide: decideBy(userDecider, commandFor),
      ...taken,
      snapshot: known && {
        state: {
          status: 'active',
          roles: known.roles,
          memberships: known.memberships,
          disabled: known.disabled,
          passwordHash: known.passwordHash,
          mfa: known.mfa ?? undefined,
        },
        revision: known.revision,
      },
    },
    { ...context, tenant: DEFAULT_TENANT },
    { eventStore },
  );
  if (outcome.position !== undefined && outcome.events.some(changesCredentials)) changes.expect(outcome.position);
  return outcome;
}
