import { parseReleaseEvent } from '../../domain/content/release-events.ts';
import { type ReleaseCommand, type ReleaseState, releaseDecider } from '../../domain/content/release.ts';
import type { CommandContext } from '../../domain/context.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import { type ReleaseDependencies, releaseStream } from './release-dependencies.ts';

/** Runs a command on a release of the tenant. @throws refusals of `releaseDecider` and of `commandFor` */
export function decideOnRelease(
  { id, commandFor }: { readonly id: string; readonly commandFor: CommandFor<ReleaseState, ReleaseCommand> },
  context: CommandContext,
  { eventStore }: Pick<ReleaseDependencies, 'eventStore'>,
): Promise<CommandOutcome<ReleaseState>> {
  return handleCommand(
    {
      stream: releaseStream(context.tenant, id),
      decider: releaseDecider,
      parse: parseReleaseEvent,
      decide: decideBy(releaseDecider, commandFor),
    },
    context,
    { eventStore },
  );
}
