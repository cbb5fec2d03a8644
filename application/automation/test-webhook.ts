import { randomUUID } from 'node:crypto';
import { trimEnvelope } from '../../domain/automation/envelope.ts';
import { type CommandContext, timestamp } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { decryptWebhook } from './decrypt-webhook.ts';
import { resultOf, sendWebhook } from './send-webhook.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

/** Result of a test request. `status_code` is null when the endpoint did not answer. */
export type WebhookTest = { readonly success: boolean; readonly status_code: number | null; readonly message: string };

/**
 * Sends a signed test request and waits for the response. The request is not recorded as a delivery.
 * @throws `webhook_not_found`
 */
export async function testWebhook(
  { id }: { readonly id: string },
  context: CommandContext,
  { webhooks, vault, outbound }: Pick<WebhookDependencies, 'webhooks' | 'vault' | 'outbound'>,
): Promise<WebhookTest> {
  const stored = await webhooks.one(context.tenant, id);
  if (!stored) throw refusal('webhook_not_found');
  const webhook = decryptWebhook(stored, { vault });
  const envelope = trimEnvelope(
    { event: 'test', schema: '*', data: { message: 'This is a test delivery.' }, timestamp: timestamp(context) },
    webhook,
  );
  const outcome = await sendWebhook(
    {
      webhook,
      request: { messageId: context.newId(), event: 'test', schema: '*', body: JSON.stringify(envelope), attempt: 1 },
    },
    { outbound, now: context.now, newNonce: randomUUID },
  );
  const { success, statusCode, error } = resultOf(outcome);
  return { success, status_code: statusCode ?? null, message: error ?? 'the endpoint accepted the test delivery' };
}
