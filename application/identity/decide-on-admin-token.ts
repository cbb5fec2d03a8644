import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { AdminTokenCommand } from '../../domain/identity/admin-token.ts';
import { adminToken, decideAdminToken } from '../../domain/identity/admin-token.ts';
import { parseAdminTokenEvent } from '../../domain/identity/admin-token-events.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { IdentityDependencies } from './dependencies.ts';

/** Runs a command on an admin token of the tenant. @returns position to wait for @throws refusals of `decideAdminToken` */
export async function decideOnAdminToken(
  { eventStore, changes }: Pick<IdentityDependencies, 'eventStore' | 'changes'>,
  { tokenId, command }: { readonly tokenId: string; readonly command: AdminTokenCommand },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand({
    eventStore,
    stream: streamName({ category: 'admin_token', tenant: context.tenant, id: tokenId }),
    decider: adminToken,
    parse: parseAdminTokenEvent,
    context,
    decide: (state) => decideAdminToken(command, state),
  });
  if (position !== undefined) changes.expect(position);
  return position;
}
