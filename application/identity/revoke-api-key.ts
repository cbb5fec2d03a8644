import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

/**
 * Revokes an API key of the tenant; its history stays.
 * @returns the position to wait for
 * @throws `api_key_not_found`
 */
export async function revokeApiKey(
  { keyId }: { readonly keyId: string },
  context: CommandContext,
  dependencies: IdentityWriteDependencies,
): Promise<GlobalPosition | undefined> {
  const { position } = await decideOnApiKey(
    { id: keyId, commandFor: () => ({ kind: 'revoke' }) },
    context,
    dependencies,
  );
  return position;
}
