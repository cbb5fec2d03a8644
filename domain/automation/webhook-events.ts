import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';
import type { SealedValue } from '../sealed-value.ts';
import type { TriggerEvent } from './trigger.ts';

/**
 * Settings of a webhook as events store them. URL and headers are sealed, because both may contain credentials of the
 * customer.
 */
export type WebhookSettings = {
  readonly name: string;
  readonly url: SealedValue;
  readonly events: readonly TriggerEvent[];
  /** Names of content types. Empty: every content type, and changes of content types too. */
  readonly schemas: readonly string[];
  readonly enabled: boolean;
  /** JSON object of the extra request headers, sealed; null without extra headers. */
  readonly headers: SealedValue | null;
  /** Fields of `data` that are sent; empty: all of them. */
  readonly include_fields: readonly string[];
  /** Fields of `data` that are not sent. */
  readonly exclude_fields: readonly string[];
  /** Maximum number of bytes that are read of the endpoint's response. */
  readonly max_response_size: number;
};

/** Data of `WebhookDeliveryFailed`. The error text is only in the dead letter. */
export type WebhookDeliveryFailure = {
  readonly webhook_id: string;
  readonly webhook_name: string;
  readonly dead_letter_id: string;
  readonly event_type: string;
  readonly schema: string;
  readonly total_attempts: number;
  /** HTTP status of the last attempt; absent when the endpoint did not answer. */
  readonly last_status_code?: number;
};

/** Events of a webhook, stream `webhook-<tenant>.<webhook id>`. */
export type WebhookEvent =
  | DomainEvent<'WebhookCreated', { readonly settings: WebhookSettings; readonly secret: SealedValue | null }>
  /** Holds only the settings that changed. */
  | DomainEvent<'WebhookChanged', { readonly settings: Partial<WebhookSettings> }>
  /** Later requests are signed with this secret; null: they are not signed. */
  | DomainEvent<'WebhookSecretRotated', { readonly secret: SealedValue | null }>
  | DomainEvent<'WebhookDeleted', Readonly<Record<string, never>>>
  /** The last attempt of a delivery failed; the delivery is now a dead letter. */
  | DomainEvent<'WebhookDeliveryFailed', WebhookDeliveryFailure>;

export const webhookEvents = eventParser<WebhookEvent>('webhook', [
  'WebhookCreated',
  'WebhookChanged',
  'WebhookSecretRotated',
  'WebhookDeleted',
  'WebhookDeliveryFailed',
]);
