import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { SealedValue } from '../sealed-value.ts';
import type { WebhookEvent, WebhookSettings } from './webhook-events.ts';

/** Undefined before the creation and after the deletion of the webhook. */
export type WebhookState = (WebhookSettings & { readonly secret: SealedValue | null }) | undefined;

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

export const webhookDecider: Decider<WebhookState, WebhookCommand, WebhookEvent> = {
  initialState: () => undefined,
  decide,
  evolve,
};

/**
 * @throws `conflict` when a webhook is created twice; `webhook_not_found` before its creation and after its deletion
 */
function decide(state: WebhookState, command: WebhookCommand): readonly WebhookEvent[] {
  if (command.kind === 'create') {
    if (state) throw refusal('conflict');
    return [{ type: 'WebhookCreated', data: { settings: command.settings, secret: command.secret } }];
  }
  if (!state) throw refusal('webhook_not_found');
  switch (command.kind) {
    case 'change':
      return [
        ...(Object.keys(command.settings).length > 0 ? [changed(command.settings)] : []),
        ...(command.secret === undefined ? [] : rotateSecret(state.secret, command.secret)),
      ];
    case 'rotate_secret':
      return rotateSecret(state.secret, command.secret);
    case 'delete':
      return [{ type: 'WebhookDeleted', data: {} }];
  }
}

function changed(settings: Partial<WebhookSettings>): WebhookEvent {
  return { type: 'WebhookChanged', data: { settings } };
}

/**
 * Removing a secret that does not exist changes nothing. Every new secret is a change, because sealed values cannot be
 * compared.
 */
function rotateSecret(current: SealedValue | null, secret: SealedValue | null): readonly WebhookEvent[] {
  return secret === null && current === null ? [] : [{ type: 'WebhookSecretRotated', data: { secret } }];
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
