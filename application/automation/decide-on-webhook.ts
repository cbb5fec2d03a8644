import { webhookEvents } from '../../domain/automation/webhook-events.ts';
import { type WebhookCommand, type WebhookState, webhookDecider } from '../../domain/automation/webhook.ts';
import type { CommandContext } from '../../domain/context.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

export function webhookStream(tenant: string, id: string): string {
  return streamName({ category: 'webhook', tenant, id });
}

/** Runs a command on a webhook of the tenant. @throws refusals of `webhookDecider` and of `commandFor` */
export function decideOnWebhook(
  { id, commandFor }: { readonly id: string; readonly commandFor: CommandFor<WebhookState, WebhookCommand> },
  context: CommandContext,
  { eventStore }: Pick<WebhookDependencies, 'eventStore'>,
): Promise<CommandOutcome<WebhookState>> {
  return handleCommand(
    {
      stream: webhookStream(context.tenant, id),
      decider: webhookDecider,
      parse: webhookEvents.parse,
      decide: decideBy(webhookDecider, commandFor),
    },
    context,
    { eventStore },
  );
}
