import { v5 } from 'uuid';

/** A random constant. Do not change it: events that are handled again would then be delivered again. */
const NAMESPACE = '5f0c4b0e-6c53-5a43-9a35-3c1f8b1f8a51';

/**
 * Id of the delivery of an event to a webhook, sent as `X-Webhook-Id`. It is the same whenever and wherever the event
 * is handled.
 */
export function messageId(eventId: string, webhookId: string): string {
  return v5(`${eventId}/${webhookId}`, NAMESPACE);
}
