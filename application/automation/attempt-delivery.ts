import { type RetryPolicy, retryDelay } from '../../domain/automation/retry-policy.ts';
import type { OutboundOutcome } from '../ports/outbound.ts';
import type { Tracing } from '../ports/tracing.ts';
import type { AttemptRecord, ReservedDelivery } from '../ports/webhook-queue.ts';
import type { DecryptedWebhook } from './decrypt-webhook.ts';
import { type SendWebhookDependencies, resultOf, sendWebhook } from './send-webhook.ts';
import type { WebhookDirectory } from './webhook-directory.ts';

/**
 * Maximum number of postponements of one attempt because of local failures. After them the attempt counts as failed, so
 * that the delivery ends.
 */
const MAX_POSTPONEMENTS = 20;

/** Result of working on a reserved delivery. */
export type AttemptOutcome =
  | { readonly kind: 'attempted'; readonly record: AttemptRecord }
  /**
   * No attempt was made, or it failed because of a local failure. `count`: the postponement counts towards the limit of
   * local failures.
   */
  | { readonly kind: 'postponed'; readonly count: boolean }
  /** The webhook is deleted. */
  | { readonly kind: 'discarded' };

export type AttemptDependencies = SendWebhookDependencies & {
  readonly directory: Pick<WebhookDirectory, 'of'>;
  readonly policy: RetryPolicy;
  readonly newId: () => string;
  /** Returns a random number from 0 (included) to 1 (excluded). */
  readonly random: () => number;
  readonly tracing?: Tracing | undefined;
};

/**
 * Makes one attempt at a reserved delivery, with the current settings of the webhook. Deliveries of a disabled webhook
 * are postponed until it is enabled.
 */
export async function attemptDelivery(
  delivery: ReservedDelivery,
  dependencies: AttemptDependencies,
): Promise<AttemptOutcome> {
  const webhook = (await dependencies.directory.of(delivery.tenant)).get(delivery.webhookId);
  if (!webhook) return { kind: 'discarded' };
  if (!webhook.enabled || webhook.unreadable) return { kind: 'postponed', count: false };
  const at = dependencies.now();
  const outcome = await sendTraced(webhook, delivery, dependencies);
  if (outcome.kind === 'local_fault' && delivery.postponed < MAX_POSTPONEMENTS)
    return { kind: 'postponed', count: true };
  const { success, statusCode, error } = resultOf(outcome);
  const delayMs = success
    ? undefined
    : retryDelay(dependencies.policy, delivery.attempt, {
        random: dependencies.random(),
        retryAfterMs: outcome.kind === 'answered' ? outcome.retryAfterMs : undefined,
      });
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

/**
 * The span of the request is a child of the span of the write that caused the delivery. The request carries its own
 * span in `traceparent`.
 */
async function sendTraced(
  webhook: DecryptedWebhook,
  delivery: ReservedDelivery,
  dependencies: AttemptDependencies,
): Promise<OutboundOutcome> {
  const { tracing } = dependencies;
  if (!tracing) return sendWebhook({ webhook, request: { ...delivery, traceparent: undefined } }, dependencies);
  const span = tracing.start('deliver webhook', {
    kind: 'client',
    parent: delivery.traceparent,
    attributes: {
      'http.request.method': 'POST',
      'palimpsest.tenant': delivery.tenant,
      'palimpsest.webhook': delivery.webhookId,
      'palimpsest.message': delivery.messageId,
      'palimpsest.attempt': delivery.attempt,
    },
  });
  const outcome = await sendWebhook({ webhook, request: { ...delivery, traceparent: span.traceparent } }, dependencies);
  if (outcome.kind === 'answered') span.set({ 'http.response.status_code': outcome.status });
  span.end(resultOf(outcome).error);
  return outcome;
}
