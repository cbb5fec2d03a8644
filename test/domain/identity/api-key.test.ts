import { expect } from 'chai';
import type { ApiKeyEvent } from '../../../domain/identity/api-key-events.ts';
import { type ApiKeyCommand, apiKeyDecider, needsPaidLimit } from '../../../domain/identity/api-key.ts';
import { given } from '../../support/given.ts';

describe('an API key', () => {
  const created: ApiKeyEvent = {
    type: 'ApiKeyCreated',
    data: {
      key_id: 'k',
      name: 'site',
      prefix: 'abcdefgh',
      key_hash: 'h1',
      scopes: [],
      roles: ['editor'],
      schemas: [],
      expires_at: null,
      monthly_limit: 10,
    },
  };
  const rotated: ApiKeyEvent = {
    type: 'ApiKeyRotated',
    data: { prefix: 'ijklmnop', key_hash: 'h2', previous_until: null },
  };
  const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: {} };
  const deleted: ApiKeyEvent = { type: 'ApiKeyDeleted', data: {} };
  const limited: ApiKeyEvent = { type: 'ApiKeyMonthlyLimitChanged', data: { monthly_limit: 20 } };
  const create: ApiKeyCommand = {
    kind: 'create',
    keyId: 'k',
    settings: {
      name: 'site',
      scopes: [],
      roles: ['editor'],
      schemas: [],
      expiresAt: undefined,
      monthlyLimit: 10,
    },
    secret: { prefix: 'abcdefgh', keyHash: 'h1' },
  };
  const rotateAs = (...roles: readonly string[]): ApiKeyCommand => ({
    kind: 'rotate',
    secret: { prefix: 'ijklmnop', keyHash: 'h2' },
    previousUntil: null,
    creator: { roles },
  });
  const limitTo = (monthlyLimit: number): ApiKeyCommand => ({ kind: 'set_monthly_limit', monthlyLimit });

  it('is created without its secret', () => {
    given(apiKeyDecider, []).when(create).thenAppends([created]);
  });
  it('is created once', () => {
    given(apiKeyDecider, [created]).when(create).thenRefuses('conflict');
    given(apiKeyDecider, [created, deleted]).when(create).thenRefuses('conflict');
  });
  it('is rotated by a caller who holds its roles', () => {
    given(apiKeyDecider, [created]).when(rotateAs('admin', 'editor')).thenAppends([rotated]);
  });
  it('is rotated by a super admin', () => {
    given(apiKeyDecider, [created]).when(rotateAs('super_admin')).thenAppends([rotated]);
  });
  it('is not rotated by a caller who lacks one of its roles', () => {
    given(apiKeyDecider, [created]).when(rotateAs('admin')).thenRefuses('cannot_grant_roles');
  });
  it('is not rotated after it was revoked', () => {
    given(apiKeyDecider, [created, revoked]).when(rotateAs('super_admin')).thenRefuses('api_key_revoked');
  });
  it('is not found after it was deleted', () => {
    given(apiKeyDecider, [created, deleted]).when(rotateAs('super_admin')).thenRefuses('api_key_not_found');
  });
  it('gets a new monthly limit', () => {
    given(apiKeyDecider, [created]).when(limitTo(20)).thenAppends([limited]);
  });
  it('does not change when the limit is the current one', () => {
    given(apiKeyDecider, [created, limited]).when(limitTo(20)).thenAppendsNothing();
  });
  it('is not found before it was created', () => {
    given(apiKeyDecider, []).when(limitTo(20)).thenRefuses('api_key_not_found');
  });
  it('is revoked once', () => {
    given(apiKeyDecider, [created]).when({ kind: 'revoke' }).thenAppends([revoked]);
    given(apiKeyDecider, [created, revoked]).when({ kind: 'revoke' }).thenAppendsNothing();
  });

  it('needs a license for its first limit and for a raise', () => {
    expect(needsPaidLimit(1, 0)).to.equal(true);
    expect(needsPaidLimit(11, 10)).to.equal(true);
    expect(needsPaidLimit(10, 10)).to.equal(false);
    expect(needsPaidLimit(9, 10)).to.equal(false);
    expect(needsPaidLimit(0, 10)).to.equal(false);
    expect(needsPaidLimit(0, 0)).to.equal(false);
  });
});
