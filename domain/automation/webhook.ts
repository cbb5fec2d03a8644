import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { DomainEvent, RecordedEvent } from '../event.ts';
import type { TriggerEvent } from './trigger.ts';

/** A sealed value as the Vault port makes it; the domain only carries it. */
export type SealedValue = { readonly $sealed: 1; readonly k: string; readonly n: string; readonly c: string };

/** What of a webhook may stand in an event. URL and headers are sealed whole: both are places for customers' credentials (spec 5, rule 11). */
export type WebhookSettings = {
  readonly name: string;
  readonly url: SealedValue;
  readonly events: readonly TriggerEvent[];
  /** Names of content types; empty: every one, and changes of content types too. */
  readonly schemas: readonly string[];
  readonly enabled: boolean;
  /** JSON object of the extra headers, sealed; null without any. */
  readonly headers: SealedValue | null;
  readonly include_fields: readonly string[];
  readonly exclude_fields: readonly string[];
  /** Bytes of the endpoint's answer that are read. */
  readonly max_response_size: number;
};

/** Stream `webhook-<tenant>.<id>`. */
export type WebhookEvent =
  | DomainEvent<'WebhookCreated', { readonly settings: WebhookSettings; readonly secret: SealedValue | null }>
  /** What changed. */
  | DomainEvent<'WebhookChanged', { readonly settings: Partial<WebhookSettings> }>
  /** `secret` null: requests are no longer signed. */
  | DomainEvent<'WebhookSecretRotated', { readonly secret: SealedValue | null }>
  | DomainEvent<'WebhookDeleted', Record<string, never>>
  | DomainEvent<'WebhookDeliveryFailed', WebhookDeliveryFailure>;

/** `webhook.delivery_failed` (spec 3, system events); the error text is on the dead letter. */
export type WebhookDeliveryFailure = {
  readonly webhook_id: string;
  readonly webhook_name: string;
  readonly dead_letter_id: string;
  readonly event_type: string;
  readonly schema: string;
  readonly total_attempts: number;
  readonly last_status_code?: number;
};

/** A webhook as its events make it; undefined before the first and after its deletion. */
export type WebhookState = (WebhookSettings & { readonly secret: SealedValue | null }) | undefined;

export const webhookDecider: Decider<WebhookState, WebhookEvent> = { initialState: () => undefined, evolve };

function evolve(state: WebhookState, event: WebhookEvent): WebhookState {
  switch (event.type) {
    case 'WebhookCreated':
      return { ...event.data.settings, secret: event.data.secret };
    case 'WebhookChanged':
      return state && { ...state, ...event.data.settings };
    case 'WebhookSecretRotated':
      return state && { ...state, secret: event.data.secret };
    case 'WebhookDeleted':
      return undefined;
    case 'WebhookDeliveryFailed':
      return state;
  }
}

export function createWebhook(state: WebhookState, settings: WebhookSettings, secret: SealedValue | null): readonly WebhookEvent[] {
  if (state) throw refusal('conflict');
  return [{ type: 'WebhookCreated', data: { settings, secret } }];
}

/** `secret` undefined keeps the stored one. @throws `webhook_not_found` */
export function replaceWebhook(state: WebhookState, settings: Partial<WebhookSettings>, secret: SealedValue | null | undefined): readonly WebhookEvent[] {
  if (!state) throw refusal('webhook_not_found');
  const changed: WebhookEvent[] = Object.keys(settings).length > 0 ? [{ type: 'WebhookChanged', data: { settings } }] : [];
  return secret === undefined ? changed : [...changed, ...rotateWebhookSecret(state, secret)];
}

/** @throws `webhook_not_found` */
export function rotateWebhookSecret(state: WebhookState, secret: SealedValue | null): readonly WebhookEvent[] {
  if (!state) throw refusal('webhook_not_found');
  return secret === null && state.secret === null ? [] : [{ type: 'WebhookSecretRotated', data: { secret } }];
}

/** @throws `webhook_not_found` */
export function deleteWebhook(state: WebhookState): readonly WebhookEvent[] {
  if (!state) throw refusal('webhook_not_found');
  return [{ type: 'WebhookDeleted', data: {} }];
}

const TYPES: ReadonlySet<string> = new Set<WebhookEvent['type']>(['WebhookCreated', 'WebhookChanged', 'WebhookSecretRotated', 'WebhookDeleted', 'WebhookDeliveryFailed']);

/** Reads a stored event of a webhook's stream. @throws RangeError for a type that is none of a webhook's */
export function parseWebhookEvent(event: RecordedEvent): WebhookEvent {
  if (!isWebhookEvent(event)) throw new RangeError(`no event of a webhook: ${event.type} in ${event.stream}`);
  return event;
}

function isWebhookEvent(event: RecordedEvent): event is RecordedEvent & WebhookEvent {
  return TYPES.has(event.type);
}

