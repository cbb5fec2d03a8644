import { expect } from 'chai';
import { retryDelay, DEFAULT_RETRY_POLICY } from '../../../domain/automation/retry-policy.ts';
import { isSecretHeader, problemOfHeaders, redactHeaders, restoreHeaders } from '../../../domain/automation/request-headers.ts';
import { trimEnvelope } from '../../../domain/automation/envelope.ts';
import { fires, presentContentType, triggerOf } from '../../../domain/automation/trigger.ts';
import type { WebhookEvent, WebhookSettings } from '../../../domain/automation/webhook.ts';
import { createWebhook, deleteWebhook, replaceWebhook, rotateWebhookSecret, webhookDecider } from '../../../domain/automation/webhook.ts';
import { recordedEvent } from '../../support/recorded-events.ts';

const sealed = { $sealed: 1, k: 'k', n: 'n', c: 'c' } as const;
const settings: WebhookSettings = { name: 'a', url: sealed, events: [], schemas: [], enabled: true, headers: null, include_fields: [], exclude_fields: [], max_response_size: 1 };
const given = (...events: readonly WebhookEvent[]) => events.reduce(webhookDecider.evolve, webhookDecider.initialState());
const made: WebhookEvent = { type: 'WebhookCreated', data: { settings, secret: null } };
const failed: WebhookEvent = { type: 'WebhookDeliveryFailed', data: { webhook_id: 'w', webhook_name: 'a', dead_letter_id: 'd', event_type: 'after_create', schema: 'article', total_attempts: 5 } };

describe('webhook decider', () => {
  it('is created once', () => {
    expect(createWebhook(given(), settings, null)).to.deep.equal([made]);
    expect(() => createWebhook(given(made), settings, null)).to.throw();
  });

  it('changes what is given and keeps the rest', () => {
    const state = given(made, { type: 'WebhookChanged', data: { settings: { name: 'b' } } }, failed);
    expect(state).to.deep.equal({ ...settings, name: 'b', secret: null });
  });

  it('replaces nothing when nothing differs', () => {
    expect(replaceWebhook(given(made), {}, undefined)).to.deep.equal([]);
    expect(replaceWebhook(given(made), {}, null)).to.deep.equal([]);
  });

  it('rotates, and removes, a secret', () => {
    expect(rotateWebhookSecret(given(made), sealed)).to.deep.equal([{ type: 'WebhookSecretRotated', data: { secret: sealed } }]);
    expect(given(made, { type: 'WebhookSecretRotated', data: { secret: sealed } }, { type: 'WebhookSecretRotated', data: { secret: null } })?.secret).to.equal(null);
  });

  it('is gone after its deletion, whatever still fails for it', () => {
    const gone = given(made, ...deleteWebhook(given(made)), failed);
    expect(gone).to.equal(undefined);
    for (const decide of [() => deleteWebhook(gone), () => replaceWebhook(gone, {}, undefined), () => rotateWebhookSecret(gone, sealed)]) expect(decide).to.throw().with.property('code', 'webhook_not_found');
  });
});

describe('retry policy', () => {
  it('waits 30 s, 60 s, 120 s and 240 s, and gives up after the fifth attempt', () => {
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(DEFAULT_RETRY_POLICY, attempt, { chance: 0 }))).to.deep.equal([30_000, 60_000, 120_000, 240_000, undefined]);
  });

  it('never waits longer than its cap', () => {
    expect(retryDelay({ ...DEFAULT_RETRY_POLICY, max_attempts: 100 }, 99, { chance: 0.9, retryAfterMs: 9e9 })).to.equal(600_000);
  });

  it('waits as long as the endpoint asks, and up to a tenth longer so that what failed together comes back apart', () => {
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, { chance: 0, retryAfterMs: 45_000 })).to.equal(45_000);
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, { chance: 0, retryAfterMs: 5 })).to.equal(30_000);
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, { chance: 0.5 })).to.equal(31_500);
  });

  it('grows in steps, stays fixed, or is off', () => {
    expect([1, 2, 3].map((attempt) => retryDelay({ ...DEFAULT_RETRY_POLICY, strategy: 'linear' }, attempt, { chance: 0 }))).to.deep.equal([30_000, 60_000, 90_000]);
    expect([1, 2, 3].map((attempt) => retryDelay({ ...DEFAULT_RETRY_POLICY, strategy: 'fixed' }, attempt, { chance: 0 }))).to.deep.equal([30_000, 30_000, 30_000]);
    expect(retryDelay({ ...DEFAULT_RETRY_POLICY, enabled: false }, 1, { chance: 0, retryAfterMs: 1 })).to.equal(undefined);
  });
});

describe('trigger', () => {
  it('publish, unpublish and restore count as after_update', () => {
    const of = (type: string) => triggerOf(recordedEvent({ type, data: { schema: 'article' } }))?.event;
    expect(['EntryCreated', 'EntryFieldsChanged', 'EntryPublished', 'EntryUnpublished', 'EntryDeleted'].map(of)).to.deep.equal(['after_create', 'after_update', 'after_update', 'after_update', 'after_delete']);
    expect(of('UserCreated')).to.equal(undefined);
  });

  it('every change of a content type is an after_create of sys_schemas, renames too; its deletion an after_delete', () => {
    const of = (type: string) => triggerOf(recordedEvent({ type, data: { definition: { name: 'article' } } }));
    for (const type of ['ContentTypeSaved', 'ContentTypeRenamed', 'ContentTypeFieldRenamed']) expect(of(type), type).to.deep.equal({ event: 'after_create', schema: 'sys_schemas', kind: 'content_type' });
    expect(of('ContentTypeDeleted')?.event).to.equal('after_delete');
    expect(presentContentType(recordedEvent({ type: 'ContentTypeRenamed', revision: 3, data: { definition: { name: 'article' } } }))).to.deep.equal({ name: 'article', action: 'updated' });
  });

  it('reaches no webhook that names no event', () => {
    expect(fires({ enabled: true, events: [], schemas: [] }, { event: 'after_create', schema: 'article', kind: 'entry' })).to.equal(false);
  });

  it('of a content type named sys_schemas by a webhook stays with webhooks that name none', () => {
    expect(fires({ enabled: true, events: ['after_create'], schemas: ['sys_schemas'] }, { event: 'after_create', schema: 'sys_schemas', kind: 'content_type' })).to.equal(false);
  });
});

describe('envelope', () => {
  it('a field named like a member of every object is data like any other', () => {
    const envelope = { event: 'after_create', schema: 'a', data: JSON.parse('{"__proto__": 1, "constructor": 2, "b": 3}') as Record<string, number>, timestamp: 't' };
    expect(JSON.stringify(trimEnvelope(envelope, { include_fields: ['__proto__', 'b'], exclude_fields: [] }).data)).to.equal('{"__proto__":1,"b":3}');
  });
});

describe('request headers', () => {
  it('redacts names that hold a secret word', () => {
    for (const name of ['Authorization', 'X-Token', 'my-secret', 'X-API-Key', 'Signature', 'password', 'Session-Id', 'Cookie']) expect(isSecretHeader(name), name).to.equal(true);
    expect(redactHeaders({ 'X-Key': 'a', 'X-Plain': 'b' }, false)).to.deep.equal({ 'X-Key': '[redacted]', 'X-Plain': 'b' });
    expect(redactHeaders({ 'X-Plain': 'b' }, true)).to.deep.equal({ 'X-Plain': '[redacted]' });
  });

  it('restores stored values whatever the case of the name, and refuses where there are none', () => {
    expect(restoreHeaders({ 'x-key': '[redacted]', a: 'b' }, { 'X-Key': 'stored' })).to.deep.equal({ 'x-key': 'stored', a: 'b' });
    expect(restoreHeaders({ 'x-other': '[redacted]' }, { 'X-Key': 'stored' })).to.equal(undefined);
  });

  it('refuses a name given twice', () => {
    expect(problemOfHeaders({ 'X-A': '1', 'x-a': '2' })).to.be.a('string');
  });
});
