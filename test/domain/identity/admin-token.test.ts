import type { AdminTokenEvent } from '../../../domain/identity/admin-token-events.ts';
import { type AdminTokenCommand, adminTokenDecider } from '../../../domain/identity/admin-token.ts';
import { given } from '../../support/given.ts';

describe('an admin token', () => {
  const secret = (tokenHash: string) => ({
    tokenHash,
    issuedBy: 'u',
    issuedAt: new Date('2026-11-20T00:00:00.000Z'),
    expiresAt: new Date('2026-12-20T00:00:00.000Z'),
  });
  const issued = {
    token_hash: 'h1',
    issued_by: 'u',
    issued_at: '2026-11-20T00:00:00.000Z',
    expires_at: '2026-12-20T00:00:00.000Z',
  };
  const created: AdminTokenEvent = {
    type: 'AdminTokenCreated',
    data: { ...issued, token_id: 't', name: 'ci', grants: ['schemas:read'] },
  };
  const rotated: AdminTokenEvent = { type: 'AdminTokenRotated', data: { ...issued, token_hash: 'h2' } };
  const revoked: AdminTokenEvent = { type: 'AdminTokenRevoked', data: {} };
  const create: AdminTokenCommand = {
    kind: 'create',
    tokenId: 't',
    settings: { name: 'ci', grants: ['schemas:read'] },
    secret: secret('h1'),
  };
  const rotate: AdminTokenCommand = { kind: 'rotate', secret: secret('h2') };

  it('is created once', () => {
    given(adminTokenDecider, []).when(create).thenAppends([created]);
    given(adminTokenDecider, [created]).when(create).thenRefuses('conflict');
    given(adminTokenDecider, [created, revoked]).when(create).thenRefuses('conflict');
  });
  it('is rotated', () => {
    given(adminTokenDecider, [created]).when(rotate).thenAppends([rotated]);
  });
  it('is not rotated after it was revoked', () => {
    given(adminTokenDecider, [created, rotated, revoked]).when(rotate).thenRefuses('admin_token_revoked');
  });
  it('is not found before it was created', () => {
    given(adminTokenDecider, []).when(rotate).thenRefuses('admin_token_not_found');
    given(adminTokenDecider, []).when({ kind: 'revoke' }).thenRefuses('admin_token_not_found');
  });
  it('is revoked once', () => {
    given(adminTokenDecider, [created, rotated]).when({ kind: 'revoke' }).thenAppends([revoked]);
    given(adminTokenDecider, [created, revoked]).when({ kind: 'revoke' }).thenAppendsNothing();
  });
});
