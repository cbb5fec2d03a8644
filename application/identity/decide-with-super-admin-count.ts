import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { UserCommand } from '../../domain/identity/user.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { TakenValues } from '../with-claims.ts';
import type { ChangeUserDependencies } from './account-dependencies.ts';
import { decideOnUser } from './decide-on-user.ts';
import { runExclusively } from './run-exclusively.ts';

type CountingCommand = {
  readonly userId: string;
  /** Makes the command from the number of other enabled super admins. */
  readonly commandFor: (otherSuperAdmins: number) => UserCommand;
  /** Runs before the decision. @returns the unique values that the append takes or releases */
  readonly before?: (user: UserRecord | undefined) => Promise<TakenValues | undefined>;
};

/**
 * Runs a command on a user that may remove a super admin. Such commands run one at a time in the installation, so two
 * commands that each remove one of the last two super admins cannot both succeed.
 * @returns the position to wait for; undefined when nothing changed
 */
export function decideWithSuperAdminCount(
  { userId, commandFor, before }: CountingCommand,
  context: CommandContext,
  dependencies: ChangeUserDependencies,
): Promise<GlobalPosition | undefined> {
  const { reads } = dependencies;
  return runExclusively(
    {
      name: 'super-admins',
      async work() {
        const user = await reads.userById(userId);
        const effects = await before?.(user);
        const otherSuperAdmins = await reads.otherSuperAdmins(userId);
        const { position } = await decideOnUser(
          { userId, commandFor: () => commandFor(otherSuperAdmins), current: user, takenValues: effects },
          context,
          dependencies,
        );
        return position;
      },
    },
    dependencies,
  );
}
