import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { MIN_SECRET_LENGTH } from './accept-webhook.ts';
import { decideOnWebhook } from './decide-on-webhook.ts';
import { sealWebhookPart } from './decrypt-webhook.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

/**
 * Replaces the secret of a webhook.
 * @param input Without `newSecret` a secret is generated.
 * @returns the new secret in plain text; it cannot be read later
 * @throws `invalid_input` for a secret that is too short, `webhook_not_found`
 */
export async function rotateWebhookSecret(
  { id, newSecret }: { readonly id: string; readonly newSecret: string | undefined },
  context: CommandContext,
  dependencies: Pick<WebhookDependencies, 'eventStore' | 'vault' | 'newSecret'>,
): Promise<{ readonly newSecret: string; readonly position: GlobalPosition | undefined }> {
  if (newSecret !== undefined && newSecret.length < MIN_SECRET_LENGTH) {
    throw refusal('invalid_input', {
      fields: [{ field: 'new_secret', message: `must have at least ${MIN_SECRET_LENGTH} characters` }],
    });
  }
  const plainText = newSecret ?? dependencies.newSecret();
  const secret = sealWebhookPart({ webhookId: id, part: 'secret', plainText }, dependencies);
  const { position } = await decideOnWebhook(
    { id, commandFor: () => ({ kind: 'rotate_secret', secret }) },
    context,
    dependencies,
  );
  return { newSecret: plainText, position };
}
