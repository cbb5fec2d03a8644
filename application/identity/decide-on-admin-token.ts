import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { adminTokenEvents } from '../../domain/identity/admin-token-events.ts';
import { type AdminTokenCommand, adminTokenDecider } from '../../domain/identity/admin-token.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

function adminTokenStream(tenant: string, tokenId: string): string {
  return streamName({ category: 'admin_token', tenant, id: tokenId });
}

/**
 * Runs a command on an admin token of the tenant.
 * @returns the position to wait for; undefined when nothing changed
 * @throws refusals of `adminTokenDecider`
 */
export async function decideOnAdminToken(
  { tokenId, command }: { readonly tokenId: string; readonly command: AdminTokenCommand },
  context: CommandContext,
  { eventStore, changes }: IdentityWriteDependencies,
): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand(
    {
      stream: adminTokenStream(context.tenant, tokenId),
      decider: adminTokenDecider,
      parse: adminTokenEvents.parse,
      decide: (state) => adminTokenDecider.decide(state, command),
    },
    context,
    { eventStore },
  );
  if (position !== undefined) changes.expect(position);
  return position;
}
