import type { RetryPolicy } from '../../domain/automation/retry-policy.ts';
import { retryDelay } from '../../domain/automation/retry-policy.ts';
import type { Tracing } from '../ports/tracing.ts';
import type { AttemptRecord, ClaimedDelivery } from '../ports/webhook-queue.ts';
import type { OutboundOutcome } from '../ports/outbound.ts';
import type { OpenWebhook } from './sealed-webhook.ts';
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
  /** A number from 0 up to 1, another one each time. */
  readonly chance: () => number;
  readonly tracing?: Tracing | undefined;
};

/** One attempt on a claimed delivery, with the webhook as of now. A disabled webhook's deliveries wait until it is enabled. */
export async function attemptDelivery(delivery: ClaimedDelivery, dependencies: AttemptDependencies): Promise<AttemptOutcome> {
  const webhook = (await dependencies.directory.of(delivery.tenant)).get(delivery.webhookId);
  if (!webhook) return { kind: 'discarded' };
  if (!webhook.enabled || webhook.unreadable) return { kind: 'postponed', count: false };
  const at = dependencies.now();
  const outcome = await sendTraced(webhook, delivery, dependencies);
  if (outcome.kind === 'own_fault' && delivery.postponed < MAX_POSTPONED) return { kind: 'postponed', count: true };
  const { success, statusCode, error } = judge(outcome);
  const delayMs = success ? undefined : retryDelay(dependencies.policy, delivery.attempt, { chance: dependencies.chance(), retryAfterMs: outcome.kind === 'answered' ? outcome.retryAfterMs : undefined });
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

/** A request stands in the trace of the write that it tells of, and hands its own context on. */
async function sendTraced(webhook: OpenWebhook, delivery: ClaimedDelivery, dependencies: AttemptDependencies): Promise<OutboundOutcome> {
  const { tracing } = dependencies;
  if (!tracing) return sendWebhook(webhook, { ...delivery, traceparent: undefined }, dependencies);
  const span = tracing.start('deliver webhook', {
    kind: 'client',
    parent: delivery.traceparent,
    attributes: { 'http.request.method': 'POST', 'palimpsest.tenant': delivery.tenant, 'palimpsest.webhook': delivery.webhookId, 'palimpsest.message': delivery.messageId, 'palimpsest.attempt': delivery.attempt },
  });
  const outcome = await sendWebhook(webhook, { ...delivery, traceparent: span.traceparent }, dependencies);
  if (outcome.kind === 'answered') span.set({ 'http.response.status_code': outcome.status });
  span.end(judge(outcome).error);
  return outcome;
}
