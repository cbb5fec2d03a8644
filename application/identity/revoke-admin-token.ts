import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnAdminToken } from './decide-on-admin-token.ts';
import type { IdentityDependencies } from './dependencies.ts';

/** Revokes an admin token of the tenant; its record and its requests stay. @returns position to wait for @throws `admin_token_not_found` */
export function revokeAdminToken(dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes'>, { tokenId }: { readonly tokenId: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  return decideOnAdminToken(dependencies, { tokenId, command: { kind: 'revoke' } }, context);
}
