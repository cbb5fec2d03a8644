import { webhookEvents } from '../../domain/automation/webhook-events.ts';
import { type WebhookCommand, type WebhookState, webhookDecider } from '../../domain/automation/webhook.ts';
import type { CommandContext } from '../../domain/context.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandOutcome, handleCommand } from '../handle-command.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

/**
 * Runs a command on a webhook of the tenant.
 * @param input `commandFor` makes the command from the current state; it runs again after a conflict
 * @throws refusals of `webhookDecider`
 */
export function decideOnWebhook(
  { id, commandFor }: { readonly id: string; readonly commandFor: (state: WebhookState) => WebhookCommand },
  context: CommandContext,
  { eventStore }: Pick<WebhookDependencies, 'eventStore'>,
): Promise<CommandOutcome<WebhookState>> {
  return handleCommand(
    {
      stream: streamName({ category: 'webhook', tenant: context.tenant, id }),
      decider: webhookDecider,
      parse: webhookEvents.parse,
      decide: (state) => webhookDecider.decide(state, commandFor(state)),
    },
    context,
    { eventStore },
  );
}
