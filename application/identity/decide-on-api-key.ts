import type { CommandContext } from '../../domain/context.ts';
import { apiKeyEvents } from '../../domain/identity/api-key-events.ts';
import { type ApiKeyCommand, type ApiKeyState, apiKeyDecider } from '../../domain/identity/api-key.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

export function apiKeyStream(tenant: string, id: string): string {
  return streamName({ category: 'api_key', tenant, id });
}

/** Runs a command on an API key of the tenant. @throws refusals of `apiKeyDecider` and of `commandFor` */
export async function decideOnApiKey(
  { id, commandFor }: { readonly id: string; readonly commandFor: CommandFor<ApiKeyState, ApiKeyCommand> },
  context: CommandContext,
  { eventStore, changes }: IdentityWriteDependencies,
): Promise<CommandOutcome<ApiKeyState>> {
  const outcome = await handleCommand(
    {
      stream: apiKeyStream(context.tenant, id),
      decider: apiKeyDecider,
      parse: apiKeyEvents.parse,
      decide: decideBy(apiKeyDecider, commandFor),
    },
    context,
    { eventStore },
  );
  if (outcome.position !== undefined) changes.expect(outcome.position);
  return outcome;
}
