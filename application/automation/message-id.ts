import { v5 } from 'uuid';

/** Any constant will do; a change would let repeated events fire again. */
const NAMESPACE = '5f0c4b0e-6c53-5a43-9a35-3c1f8b1f8a51';

/** Id of one event's delivery to one webhook: the same in every process and on every replay of the log (`X-Webhook-Id`). */
export function messageId(eventId: string, webhookId: string): string {
  return v5(`${eventId}/${webhookId}`, NAMESPACE);
}
