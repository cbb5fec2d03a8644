import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { DeleteApiKeyDependencies } from './credential-dependencies.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';

/**
 * Deletes an API key of the tenant with its request history and usage; its events stay.
 * @returns the position to wait for
 * @throws `api_key_not_found`
 */
export async function deleteApiKey(
  { keyId }: { readonly keyId: string },
  context: CommandContext,
  dependencies: DeleteApiKeyDependencies,
): Promise<GlobalPosition | undefined> {
  const { position } = await decideOnApiKey(
    { id: keyId, commandFor: () => ({ kind: 'delete' }) },
    context,
    dependencies,
  );
  await dependencies.apiKeyRequests.delete({ tenant: context.tenant, keyId });
  return position;
}
