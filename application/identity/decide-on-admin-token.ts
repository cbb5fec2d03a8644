import type { CommandContext } from '../../domain/context.ts';
import { adminTokenEvents } from '../../domain/identity/admin-token-events.ts';
import { type AdminTokenCommand, type AdminTokenState, adminTokenDecider } from '../../domain/identity/admin-token.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

function adminTokenStream(tenant: string, id: string): string {
  return streamName({ category: 'admin_token', tenant, id });
}

/** Runs a command on an admin token of the tenant. @throws refusals of `adminTokenDecider` and of `commandFor` */
export async function decideOnAdminToken(
  { id, commandFor }: { readonly id: string; readonly commandFor: CommandFor<AdminTokenState, AdminTokenCommand> },
  context: CommandContext,
  { eventStore, changes }: IdentityWriteDependencies,
): Promise<CommandOutcome<AdminTokenState>> {
  const outcome = await handleCommand(
    {
      stream: adminTokenStream(context.tenant, id),
      decider: adminTokenDecider,
      parse: adminTokenEvents.parse,
      decide: decideBy(adminTokenDecider, commandFor),
    },
    context,
    { eventStore },
  );
  if (outcome.position !== undefined) changes.expect(outcome.position);
  return outcome;
}
