import { randomUUID } from 'node:crypto';
import { trimEnvelope } from '../../domain/automation/envelope.ts';
import type { CommandContext } from '../../domain/context.ts';
import { timestamp } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { openWebhook } from './sealed-webhook.ts';
import { judge, sendWebhook } from './send-webhook.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

/** How a test went (spec 3, webhook routes). */
export type WebhookTest = { readonly success: boolean; readonly status_code: number | null; readonly message: string };

/** Sends a signed test request at once; it is not recorded among the deliveries. @throws `webhook_not_found` */
export async function testWebhook({ webhooks, vault, outbound }: Pick<WebhookDependencies, 'webhooks' | 'vault' | 'outbound'>, id: string, context: CommandContext): Promise<WebhookTest> {
  const stored = await webhooks.one(context.tenant, id);
  if (!stored) throw refusal('webhook_not_found');
  const webhook = openWebhook(vault, stored);
  const envelope = trimEnvelope({ event: 'test', schema: '*', data: { message: 'This is a test delivery.' }, timestamp: timestamp(context) }, webhook);
  const outcome = await sendWebhook(
    webhook,
    { messageId: context.newId(), event: 'test', schema: '*', body: JSON.stringify(envelope), attempt: 1 },
    { outbound, now: context.now, newNonce: randomUUID },
  );
  const { success, statusCode, error } = judge(outcome);
  return { success, status_code: statusCode ?? null, message: error ?? 'the endpoint accepted the test delivery' };
}
