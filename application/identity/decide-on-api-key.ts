import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ApiKeyCommand, ApiKeyState } from '../../domain/identity/api-key.ts';
import { apiKey, decideApiKey } from '../../domain/identity/api-key.ts';
import { parseApiKeyEvent } from '../../domain/identity/api-key-events.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { IdentityDependencies } from './dependencies.ts';

export function apiKeyStream(tenant: string, keyId: string): string {
  return streamName({ category: 'api_key', tenant, id: keyId });
}

/** Runs a command on a key of the tenant; `check` may refuse on the state that is decided on. @returns position to wait for @throws refusals of `decideApiKey` */
export async function decideOnApiKey(
  { eventStore, changes }: Pick<IdentityDependencies, 'eventStore' | 'changes'>,
  { keyId, command, check = () => undefined }: { readonly keyId: string; readonly command: ApiKeyCommand; readonly check?: (state: ApiKeyState) => void },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand({
    eventStore,
    stream: apiKeyStream(context.tenant, keyId),
    decider: apiKey,
    parse: parseApiKeyEvent,
    context,
    decide(state) {
      check(state);
      return decideApiKey(command, state);
    },
  });
  if (position !== undefined) changes.expect(position);
  return position;
}
