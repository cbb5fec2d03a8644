import type { CommandContext } from '../../domain/context.ts';
import type { Decider } from '../../domain/decider.ts';
import type { EventParser } from '../../domain/event-parser.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { adminTokenEvents } from '../../domain/identity/admin-token-events.ts';
import { type AdminTokenCommand, type AdminTokenState, adminTokenDecider } from '../../domain/identity/admin-token.ts';
import { apiKeyEvents } from '../../domain/identity/api-key-events.ts';
import { type ApiKeyCommand, type ApiKeyState, apiKeyDecider } from '../../domain/identity/api-key.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

/** What differs between API keys and admin tokens when a command runs. */
type CredentialKind<State, Command, Event extends DomainEvent> = {
  /** Category of the streams. */
  readonly category: 'api_key' | 'admin_token';
  readonly decider: Decider<State, Command, Event>;
  readonly events: EventParser<Event>;
};

type DecideOnCredential<State, Command> = (
  input: { readonly id: string; readonly commandFor: CommandFor<State, Command> },
  context: CommandContext,
  dependencies: IdentityWriteDependencies,
) => Promise<CommandOutcome<State>>;

/** Runs a command on an API key of the tenant. @throws refusals of `apiKeyDecider` and of `commandFor` */
export const decideOnApiKey: DecideOnCredential<ApiKeyState, ApiKeyCommand> = decideOnCredential({
  category: 'api_key',
  decider: apiKeyDecider,
  events: apiKeyEvents,
});

/** Runs a command on an admin token of the tenant. @throws refusals of `adminTokenDecider` and of `commandFor` */
export const decideOnAdminToken: DecideOnCredential<AdminTokenState, AdminTokenCommand> = decideOnCredential({
  category: 'admin_token',
  decider: adminTokenDecider,
  events: adminTokenEvents,
});

/** The stream of an API key of the tenant. */
export function apiKeyStream(tenant: string, keyId: string): string {
  return streamName({ category: 'api_key', tenant, id: keyId });
}

function decideOnCredential<State, Command, Event extends DomainEvent>({
  category,
  decider,
  events,
}: CredentialKind<State, Command, Event>): DecideOnCredential<State, Command> {
  return async ({ id, commandFor }, context, { eventStore, changes }) => {
    const outcome = await handleCommand(
      {
        stream: streamName({ category, tenant: context.tenant, id }),
        decider,
        parse: events.parse,
        decide: decideBy(decider, commandFor),
      },
      context,
      { eventStore },
    );
    if (outcome.position !== undefined) changes.expect(outcome.position);
    return outcome;
  };
}
