import type { RetryPolicy } from '../../domain/automation/retry-policy.ts';
import { retryDelay } from '../../domain/automation/retry-policy.ts';
import type { AttemptRecord, ClaimedDelivery } from '../ports/webhook-queue.ts';
import type { SendWebhookDependencies } from './send-webhook.ts';
import { judge, sendWebhook } from './send-webhook.ts';
import type { WebhookDirectory } from './webhook-directory.ts';

/** Put off so often by faults of ours, an attempt is charged after all, so that nothing circles for ever. */
const MAX_POSTPONED = 20;

/** What to do with a claimed delivery after one try. */
export type AttemptOutcome =
  | { readonly kind: 'attempted'; readonly record: AttemptRecord }
  /** No attempt was made or it failed for a reason of ours. `count`: towards the bound of such faults. */
  | { readonly kind: 'postponed'; readonly count: boolean }
  /** The webhook is deleted. */
  | { readonly kind: 'discarded' };

export type AttemptDependencies = SendWebhookDependencies & {
  readonly directory: Pick<WebhookDirectory, 'of'>;
  readonly policy: RetryPolicy;
  readonly newId: () => string;
};

/** One attempt on a claimed delivery, with the webhook as of now. A disabled webhook's deliveries wait until it is enabled. */
export async function attemptDelivery(delivery: ClaimedDelivery, dependencies: AttemptDependencies): Promise<AttemptOutcome> {
  const webhook = (await dependencies.directory.of(delivery.tenant)).get(delivery.webhookId);
  if (!webhook) return { kind: 'discarded' };
  if (!webhook.enabled || webhook.unreadable) return { kind: 'postponed', count: false };
  const at = dependencies.now();
  const outcome = await sendWebhook(webhook, delivery, dependencies);
  if (outcome.kind === 'own_fault' && delivery.postponed < MAX_POSTPONED) return { kind: 'postponed', count: true };
  const { success, statusCode, error } = judge(outcome);
  const delayMs = success ? undefined : retryDelay(dependencies.policy, delivery.attempt);
  const dead = !success && delayMs === undefined;
  return {
    kind: 'attempted',
    record: {
      messageId: delivery.messageId,
      attempt: delivery.attempt,
      status: success ? 'success' : dead ? 'dead' : 'failed',
      statusCode,
      durationMs: outcome.durationMs,
      responseBody: outcome.kind === 'answered' ? outcome.body : undefined,
      error,
      at,
      next: delayMs === undefined ? undefined : { deliveryId: dependencies.newId(), delayMs },
      deadLetter: dead ? { id: dependencies.newId(), webhookName: webhook.name } : undefined,
    },
  };
}
