import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';
import type { IdentityDependencies } from './dependencies.ts';

type Key = { readonly keyId: string };

/** Revokes a key of the tenant; its history stays. @returns position to wait for @throws `api_key_not_found` */
export function revokeApiKey(dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes'>, { keyId }: Key, context: CommandContext): Promise<GlobalPosition | undefined> {
  return decideOnApiKey(dependencies, { keyId, command: { kind: 'revoke' } }, context);
}

/** Deletes a key of the tenant with its request history and usage; its events stay. @returns position to wait for @throws `api_key_not_found` */
export async function deleteApiKey(dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'apiKeyRequests'>, { keyId }: Key, context: CommandContext): Promise<GlobalPosition | undefined> {
  const position = await decideOnApiKey(dependencies, { keyId, command: { kind: 'delete' } }, context);
  await dependencies.apiKeyRequests.forget({ tenant: context.tenant, keyId });
  return position;
}
