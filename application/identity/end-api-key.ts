import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ApiKeyCommand } from '../../domain/identity/api-key.ts';
import { apiKey, decideApiKey } from '../../domain/identity/api-key.ts';
import { parseApiKeyEvent } from '../../domain/identity/api-key-events.ts';
import { handleCommand } from '../handle-command.ts';
import { apiKeyStream } from './create-api-key.ts';
import type { IdentityDependencies } from './dependencies.ts';

/** Revokes a key of the tenant; its history stays. @returns position to wait for @throws `api_key_not_found` */
export function revokeApiKey(dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes'>, { keyId }: { readonly keyId: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  return decideOnKey(dependencies, keyId, { kind: 'revoke' }, context);
}

/** Deletes a key of the tenant with its request history; its events stay. @returns position to wait for @throws `api_key_not_found` */
export async function deleteApiKey(dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'apiKeyRequests'>, { keyId }: { readonly keyId: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  const position = await decideOnKey(dependencies, keyId, { kind: 'delete' }, context);
  await dependencies.apiKeyRequests.forget({ tenant: context.tenant, keyId });
  return position;
}

/** Runs a command on a key of the tenant. @returns position to wait for @throws `api_key_not_found` */
export async function decideOnKey({ eventStore, changes }: Pick<IdentityDependencies, 'eventStore' | 'changes'>, keyId: string, command: ApiKeyCommand, context: CommandContext): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand({
    eventStore,
    stream: apiKeyStream(context.tenant, keyId),
    decider: apiKey,
    parse: parseApiKeyEvent,
    context,
    decide: (state) => decideApiKey(command, state),
  });
  if (position !== undefined) changes.expect(position);
  return position;
}
