import { createHmac } from 'node:crypto';

/**
 * Signature headers of a webhook request: HMAC-SHA256 with the webhook's secret over `<timestamp>.<nonce>.<body>`, as
 * hex. `timestamp` is in Unix seconds.
 */
export function signatureHeaders({
  secret,
  timestamp,
  nonce,
  body,
}: {
  readonly secret: string;
  readonly timestamp: number;
  readonly nonce: string;
  readonly body: string;
}): Record<string, string> {
  const mac = createHmac('sha256', secret).update(`${timestamp}.${nonce}.${body}`).digest('hex');
  return {
    'X-Webhook-Timestamp': String(timestamp),
    'X-Webhook-Nonce': nonce,
    'X-Webhook-Algorithm': 'sha256',
    'X-Webhook-Signature': `sha256=${mac}`,
  };
}
