import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnAdminToken } from './decide-on-admin-token.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

/**
 * Revokes an admin token of the tenant; its record and its request history stay.
 * @returns the position to wait for
 * @throws `admin_token_not_found`
 */
export async function revokeAdminToken(
  { tokenId }: { readonly tokenId: string },
  context: CommandContext,
  dependencies: IdentityWriteDependencies,
): Promise<GlobalPosition | undefined> {
  const { position } = await decideOnAdminToken(
    { id: tokenId, commandFor: () => ({ kind: 'revoke' }) },
    context,
    dependencies,
  );
  return position;
}
