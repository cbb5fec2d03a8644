import { expect } from 'chai';
import type { WebhookEvent, WebhookSettings } from '../../../domain/automation/webhook-events.ts';
import { type WebhookCommand, webhookDecider } from '../../../domain/automation/webhook.ts';
import type { SealedValue } from '../../../domain/sealed-value.ts';
import { given } from '../../support/given.ts';

describe('a webhook', () => {
  const sealed: SealedValue = { $sealed: 1, k: 'k', n: 'n', c: 'c' };
  const settings: WebhookSettings = {
    name: 'a',
    url: sealed,
    events: [],
    schemas: [],
    enabled: true,
    headers: null,
    include_fields: [],
    exclude_fields: [],
    max_response_size: 1,
  };
  const created: WebhookEvent = { type: 'WebhookCreated', data: { settings, secret: null } };
  const renamed: WebhookEvent = { type: 'WebhookChanged', data: { settings: { name: 'b' } } };
  const signed: WebhookEvent = { type: 'WebhookSecretRotated', data: { secret: sealed } };
  const unsigned: WebhookEvent = { type: 'WebhookSecretRotated', data: { secret: null } };
  const deleted: WebhookEvent = { type: 'WebhookDeleted', data: {} };
  const failed: WebhookEvent = {
    type: 'WebhookDeliveryFailed',
    data: {
      webhook_id: 'w',
      webhook_name: 'a',
      dead_letter_id: 'd',
      event_type: 'after_create',
      schema: 'article',
      total_attempts: 5,
    },
  };
  const create: WebhookCommand = { kind: 'create', settings, secret: null };
  const change = (changes: Partial<WebhookSettings>, secret?: SealedValue | null): WebhookCommand => ({
    kind: 'change',
    settings: changes,
    secret,
  });
  const rotate: WebhookCommand = { kind: 'rotate_secret', secret: sealed };
  const stateAfter = (...events: readonly WebhookEvent[]) =>
    events.reduce(webhookDecider.evolve, webhookDecider.initialState());

  it('is created once', () => {
    given(webhookDecider, []).when(create).thenAppends([created]);
    given(webhookDecider, [created]).when(create).thenRefuses('conflict');
  });

  it('changes the given settings and keeps the others', () => {
    given(webhookDecider, [created])
      .when(change({ name: 'b' }))
      .thenAppends([renamed]);
    expect(stateAfter(created, renamed, failed)).to.deep.equal({ ...settings, name: 'b', secret: null });
  });

  it('changes settings and secret together', () => {
    given(webhookDecider, [created])
      .when(change({ name: 'b' }, sealed))
      .thenAppends([renamed, signed]);
  });

  it('does not change when no setting differs', () => {
    given(webhookDecider, [created]).when(change({})).thenAppendsNothing();
    given(webhookDecider, [created]).when(change({}, null)).thenAppendsNothing();
  });

  it('gets a new secret', () => {
    given(webhookDecider, [created]).when(rotate).thenAppends([signed]);
    expect(stateAfter(created, signed)?.secret).to.deep.equal(sealed);
  });

  it('loses its secret once', () => {
    given(webhookDecider, [created, signed]).when(change({}, null)).thenAppends([unsigned]);
    expect(stateAfter(created, signed, unsigned)?.secret).to.equal(null);
    given(webhookDecider, [created, signed, unsigned]).when(change({}, null)).thenAppendsNothing();
  });

  it('is not found after its deletion, even when a delivery fails later', () => {
    given(webhookDecider, [created]).when({ kind: 'delete' }).thenAppends([deleted]);
    expect(stateAfter(created, deleted, failed)).to.equal(undefined);
    for (const command of [{ kind: 'delete' } as const, change({}), rotate])
      given(webhookDecider, [created, deleted, failed]).when(command).thenRefuses('webhook_not_found');
  });
});
