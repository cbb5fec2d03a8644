import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { apiKeyEvents } from '../../domain/identity/api-key-events.ts';
import { apiKeyDecider, type ApiKeyCommand, type ApiKeyState } from '../../domain/identity/api-key.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

export function apiKeyStream(tenant: string, keyId: string): string {
  return streamName({ category: 'api_key', tenant, id: keyId });
}

/**
 * Runs a command on an API key of the tenant.
 * @param input `check` may throw a refusal; it sees the state that the command is decided on.
 * @returns the position to wait for; undefined when nothing changed
 * @throws refusals of `apiKeyDecider`
 */
export async function decideOnApiKey(
  {
    keyId,
    command,
    check = () => undefined,
  }: { readonly keyId: string; readonly command: ApiKeyCommand; readonly check?: (state: ApiKeyState) => void },
  context: CommandContext,
  { eventStore, changes }: IdentityWriteDependencies,
): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand(
    {
      stream: apiKeyStream(context.tenant, keyId),
      decider: apiKeyDecider,
      parse: apiKeyEvents.parse,
      decide(state) {
        check(state);
        return apiKeyDecider.decide(state, command);
      },
    },
    context,
    { eventStore },
  );
  if (position !== undefined) changes.expect(position);
  return position;
}
