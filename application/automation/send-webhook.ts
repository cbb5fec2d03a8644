import type { Outbound, OutboundOutcome } from '../ports/outbound.ts';
import type { DecryptedWebhook } from './decrypt-webhook.ts';
import { signatureHeaders } from './signature-headers.ts';

/** One request to the endpoint of a webhook. */
export type WebhookRequest = {
  /** `X-Webhook-Id`: the same for every attempt. */
  readonly messageId: string;
  readonly event: string;
  readonly schema: string;
  readonly body: string;
  /** From 1. */
  readonly attempt: number;
  /** W3C `traceparent` header of the request; undefined without tracing. */
  readonly traceparent?: string | undefined;
};

export type SendWebhookDependencies = {
  readonly outbound: Pick<Outbound, 'send'>;
  readonly now: () => Date;
  /** Returns a random UUID. */
  readonly newNonce: () => string;
  /** Time limit of the whole request in milliseconds, redirects included. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
};

/**
 * Sends a request. When the webhook has a secret, the request is signed with a new timestamp and nonce. A redirect to
 * another origin is followed without the signature and without the extra headers.
 */
export function sendWebhook(
  { webhook, request }: { readonly webhook: DecryptedWebhook; readonly request: WebhookRequest },
  { outbound, now, newNonce, timeoutMs }: SendWebhookDependencies,
): Promise<OutboundOutcome> {
  const signature =
    webhook.secret === undefined
      ? {}
      : signatureHeaders({
          secret: webhook.secret,
          timestamp: Math.floor(now().getTime() / 1000),
          nonce: newNonce(),
          body: request.body,
        });
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
    originHeaders: { ...traceHeader(webhook, request), ...webhook.headers, ...signature },
    body: request.body,
    maxResponseBytes: webhook.max_response_size,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

/** A `traceparent` among the webhook's own headers takes precedence. */
function traceHeader({ headers }: DecryptedWebhook, { traceparent }: WebhookRequest): Readonly<Record<string, string>> {
  const hasTraceparent = Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent');
  return traceparent === undefined || hasTraceparent ? {} : { traceparent };
}

/** Result of a delivery: every 2xx status is a success. */
export function resultOf(outcome: OutboundOutcome): {
  readonly success: boolean;
  readonly statusCode: number | undefined;
  readonly error: string | undefined;
} {
  if (outcome.kind !== 'answered') return { success: false, statusCode: undefined, error: outcome.error };
  const success = outcome.status >= 200 && outcome.status < 300;
  return {
    success,
    statusCode: outcome.status,
    error: success ? undefined : `the endpoint answered ${outcome.status}`,
  };
}
