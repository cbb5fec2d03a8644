import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { SealedValue } from '../sealed-value.ts';
import type { WebhookEvent, WebhookSettings } from './webhook-events.ts';

type Webhook = WebhookSettings & { readonly secret: SealedValue | null };

/** Undefined before the first event and after the deletion. */
export type WebhookState = Webhook | undefined;

export type WebhookCommand =
  | { readonly kind: 'create'; readonly settings: WebhookSettings; readonly secret: SealedValue | null }
  /** `settings` holds only those that differ. `secret` undefined keeps the stored one, null removes it. */
  | {
      readonly kind: 'change';
      readonly settings: Partial<WebhookSettings>;
      readonly secret: SealedValue | null | undefined;
    }
  | { readonly kind: 'rotate_secret'; readonly secret: SealedValue | null }
  | { readonly kind: 'delete' };

type CommandOf<Kind extends WebhookCommand['kind']> = Extract<WebhookCommand, { readonly kind: Kind }>;

export const webhookDecider: Decider<WebhookState, WebhookCommand, WebhookEvent> = { initialState, decide, evolve };

function initialState(): WebhookState {
  return undefined;
}

/** @throws `conflict` when the id of a new webhook is in use; `webhook_not_found` */
function decide(state: WebhookState, command: WebhookCommand): readonly WebhookEvent[] {
  switch (command.kind) {
    case 'create':
      if (state) throw refusal('conflict');
      return [{ type: 'WebhookCreated', data: { settings: command.settings, secret: command.secret } }];
    case 'change':
      return change(existing(state), command);
    case 'rotate_secret':
      return rotateSecret(existing(state), command.secret);
    case 'delete':
      existing(state);
      return [{ type: 'WebhookDeleted', data: {} }];
  }
}

function existing(state: WebhookState): Webhook {
  if (!state) throw refusal('webhook_not_found');
  return state;
}

function change(webhook: Webhook, { settings, secret }: CommandOf<'change'>): readonly WebhookEvent[] {
  return [
    ...(Object.keys(settings).length === 0 ? [] : [{ type: 'WebhookChanged', data: { settings } } as const]),
    ...(secret === undefined ? [] : rotateSecret(webhook, secret)),
  ];
}

/**
 * Removing a secret that does not exist changes nothing. Every new secret is a change, because sealed values cannot be
 * compared.
 */
function rotateSecret(webhook: Webhook, secret: SealedValue | null): readonly WebhookEvent[] {
  return secret === null && webhook.secret === null ? [] : [{ type: 'WebhookSecretRotated', data: { secret } }];
}

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
