import { expect } from 'chai';
import type { Principal } from '../../../domain/identity/principal.ts';
import { keyRefusal, scopeAllows } from '../../../domain/identity/scopes.ts';

type Key = Extract<Principal, { kind: 'api_key' }>;

function key(
  scopes: readonly string[],
  { roles = ['editor'], schemas = [] }: { roles?: readonly string[]; schemas?: readonly string[] } = {},
): Key {
  return { kind: 'api_key', keyId: 'k', tenant: 'default', roles, scopes, schemas, monthlyLimit: 0 };
}

describe('the scopes of an API key', () => {
  const cases: readonly [scopes: readonly string[], method: string, path: string, allowed: boolean][] = [
    [['content:read'], 'GET', '/api/v1/content/post', true],
    [['content:read'], 'HEAD', '/api/v1/content/post', true],
    [['content:read'], 'OPTIONS', '/api/v1/content/post', true],
    [['content:read'], 'GET', '/api/v1/content', true],
    [['content:read'], 'GET', '/api/v1/content?limit=1', true],
    [['content:read'], 'POST', '/api/v1/content/post', false],
    [['content:write'], 'POST', '/api/v1/content/post', true],
    [['content:write'], 'PUT', '/api/v1/content/post/1', true],
    [['content:write'], 'PATCH', '/api/v1/content/post/1', true],
    [['content:write'], 'DELETE', '/api/v1/content/post/1', false],
    [['content:delete'], 'DELETE', '/api/v1/content/post/1', true],
    [['content:write'], 'GET', '/api/v1/content/post', false],
    [['content:*'], 'DELETE', '/api/v1/content/post/1', true],
    [['content:*'], 'GET', '/api/v1/schemas', false],
    [['schemas:read'], 'GET', '/api/v1/schemas', true],
    [['*:read'], 'GET', '/api/v1/schemas/post', true],
    [['*:read'], 'POST', '/api/v1/content/post', false],
    [['*:*'], 'DELETE', '/api/v1/anything/at/all', true],
    [['CONTENT:Read'], 'GET', '/api/v1/content/post', true],
    [['content:read'], 'GET', '/api/v1/Content/post', true],
    [['media:read', 'content:read'], 'GET', '/api/v1/content/post', true],
    [[], 'GET', '/api/v1/content/post', false],
    [['*:*'], 'GET', '/api/v1/', false],
    [['*:*'], 'GET', '/elsewhere', false],
    [['content'], 'GET', '/api/v1/content/post', false],
    [['cont:read'], 'GET', '/api/v1/content/post', false],
  ];
  for (const [scopes, method, path, allowed] of cases) {
    it(`[${scopes.join(', ')}] ${allowed ? 'allow' : 'refuse'} ${method} ${path}`, () => {
      expect(scopeAllows(key(scopes), method, path)).to.equal(allowed);
    });
  }

  it('are not checked for keys with the admin or super_admin role', () => {
    for (const role of ['admin', 'super_admin'])
      expect(scopeAllows(key([], { roles: [role] }), 'DELETE', '/api/v1/content/post/1')).to.equal(true);
  });

  it('are checked before the list of content types', () => {
    expect(keyRefusal(key([], { schemas: ['page'] }), 'GET', '/api/v1/content/post')).to.equal('insufficient_scope');
    expect(keyRefusal(key(['*:*'], { schemas: ['page'] }), 'GET', '/api/v1/content/post')).to.equal(
      'schema_not_allowed',
    );
    expect(keyRefusal(key(['*:*'], { schemas: ['page'] }), 'GET', '/api/v1/schemas/post')).to.equal(
      'schema_not_allowed',
    );
    expect(keyRefusal(key(['*:*'], { schemas: ['page'] }), 'GET', '/api/v1/content/page/1')).to.equal(undefined);
    expect(keyRefusal(key(['*:*'], { schemas: ['page'] }), 'GET', '/api/v1/schemas')).to.equal(undefined);
    expect(keyRefusal(key(['*:*'], { roles: ['admin'], schemas: ['page'] }), 'GET', '/api/v1/content/post')).to.equal(
      'schema_not_allowed',
    );
    expect(keyRefusal(key(['*:*']), 'GET', '/api/v1/content/post')).to.equal(undefined);
  });
});
