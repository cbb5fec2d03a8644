import type { Outbound, OutboundOutcome } from '../ports/outbound.ts';
import type { OpenWebhook } from './sealed-webhook.ts';
import { signatureHeaders } from './sign-request.ts';

/** One request to an endpoint. */
export type WebhookRequest = {
  /** `X-Webhook-Id`: the same for every attempt. */
  readonly messageId: string;
  readonly event: string;
  readonly schema: string;
  readonly body: string;
  /** From 1. */
  readonly attempt: number;
  /** W3C Trace Context that is sent along. */
  readonly traceparent?: string | undefined;
};

export type SendWebhookDependencies = {
  readonly outbound: Pick<Outbound, 'send'>;
  readonly now: () => Date;
  /** A random UUID. */
  readonly newNonce: () => string;
  /** Default 10 s (spec 3, limits). */
  readonly timeoutMs?: number | undefined;
};

/** Signs with a fresh timestamp and nonce, and sends (spec 3, outbound request). Redirects to another origin carry neither signature nor extra headers. */
export function sendWebhook(webhook: OpenWebhook, request: WebhookRequest, { outbound, now, newNonce, timeoutMs }: SendWebhookDependencies): Promise<OutboundOutcome> {
  const signature = webhook.secret === undefined ? {} : signatureHeaders({ secret: webhook.secret, timestamp: Math.floor(now().getTime() / 1000), nonce: newNonce(), body: request.body });
  return outbound.send({
    method: 'POST',
    url: webhook.url,
    headers: {
      'Content-Type': 'application/json',
      'X-Webhook-Event': request.event,
      'X-Webhook-Schema': request.schema,
      'X-Webhook-Id': request.messageId,
      'X-Webhook-Attempt': String(request.attempt),
      ...(request.attempt > 1 ? { 'X-Webhook-Retry': 'true' } : {}),
    },
    originHeaders: { ...contextHeader(webhook, request), ...webhook.headers, ...signature },
    body: request.body,
    maxResponseBytes: webhook.max_response_size,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

/** A header of that name which the webhook's owner set stays theirs. */
function contextHeader({ headers }: OpenWebhook, { traceparent }: WebhookRequest): Readonly<Record<string, string>> {
  const taken = Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent');
  return traceparent === undefined || taken ? {} : { traceparent };
}

/** What an outcome means: any 2xx succeeds. */
export function judge(outcome: OutboundOutcome): { readonly success: boolean; readonly statusCode: number | undefined; readonly error: string | undefined } {
  if (outcome.kind !== 'answered') return { success: false, statusCode: undefined, error: outcome.error };
  const success = outcome.status >= 200 && outcome.status < 300;
  return { success, statusCode: outcome.status, error: success ? undefined : `the endpoint answered ${outcome.status}` };
}
