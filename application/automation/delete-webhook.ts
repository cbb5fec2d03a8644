import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnWebhook } from './decide-on-webhook.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

/** Deletes a webhook. @throws `webhook_not_found` */
export async function deleteWebhook(
  { id }: { readonly id: string },
  context: CommandContext,
  dependencies: Pick<WebhookDependencies, 'eventStore'>,
): Promise<GlobalPosition | undefined> {
  const { position } = await decideOnWebhook({ id, commandFor: () => ({ kind: 'delete' }) }, context, dependencies);
  return position;
}
