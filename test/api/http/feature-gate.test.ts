import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { compileRoute } from '../../../api/http/compile-route.ts';
import { route } from '../../../api/http/route.ts';
import type { Capability } from '../../../domain/platform/license.ts';
import { caller } from '../../support/http.ts';
import { useServed } from '../../support/serve-routes.ts';

const shared = { api: 'admin', tag: 'things', summary: 'A thing', responses: { 200: Type.Unknown() } } as const;
const done = () => Promise.resolve({ status: 200, body: { done: true } });
const admins = { kind: 'credential', roles: ['admin', 'super_admin'] } as const;
const Size = Type.Object({ size: Type.Integer() });
const routes = [
  route({
    ...shared,
    method: 'GET',
    path: '/api/admin/migrations',
    operation: 'migrations',
    access: admins,
    feature: 'migration',
    handler: done,
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/api/admin/migrations',
    operation: 'migrate',
    access: admins,
    feature: 'migration',
    body: Size,
    handler: done,
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/api/admin/hooks/{id}',
    operation: 'hook',
    access: admins,
    feature: 'webhook',
    params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
    handler: done,
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/api/admin/hooks/{id}',
    operation: 'replay',
    access: admins,
    feature: 'webhook',
    capability: 'webhook-pro',
    params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
    body: Size,
    handler: done,
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/api/admin/open',
    operation: 'open',
    access: { kind: 'public' },
    feature: 'localization',
    handler: done,
  }),
];
const NEVER_SERVED = [404, { error: 'The requested endpoint does not exist.', code: 'endpoint_not_found' }];
const PAYMENT = [
  402,
  { error: 'payment_required', plugin: 'webhook', feature: 'feature:webhook-pro', upgrade_url: 'https://buy.test/' },
];
const ID = '0192f0c0-0000-7000-8000-000000000001';

describe('the feature gate', () => {
  const licensed = new Set<Capability>();
  const lacking = new Set<string>();
  const served = useServed(
    routes,
    {},
    {
      featureGate: {
        isHidden: (feature) => feature === 'migration' && !licensed.has('migration-toolkit'),
        isWithheld: (tenant, feature) => lacking.has(`${tenant}/${feature}`),
        entitlements: { has: (capability) => licensed.has(capability), upgradeUrl: 'https://buy.test/' },
      },
    },
  );
  const call = caller(() => served().admin.url);
  const answer = async (method: string, path: string, body?: unknown, token: string | undefined = 'admin') => {
    const reply = await call(method, path, body, token === '' ? {} : { authorization: `Bearer ${token}` });
    return [reply.status, reply.text === '' ? undefined : reply.json()];
  };
  afterEach(() => {
    licensed.clear();
    lacking.clear();
  });

  it('hides all methods of a path whose feature is not licensed, and serves them as soon as it is', async () => {
    for (const [method, token] of [
      ['GET', 'admin'],
      ['POST', 'admin'],
      ['DELETE', 'admin'],
      ['OPTIONS', ''],
      ['GET', ''],
    ] as const) {
      expect(await answer(method, '/api/admin/migrations', undefined, token), method).to.deep.equal(NEVER_SERVED);
    }
    licensed.add('migration-toolkit');
    expect((await answer('GET', '/api/admin/migrations'))[0]).to.equal(200);
    expect((await answer('DELETE', '/api/admin/migrations'))[0]).to.equal(405);
  });

  it('answers 402 on a paid route after 401 and 403, before it reads ids and bodies', async () => {
    expect(await answer('POST', `/api/admin/hooks/${ID}`, { size: 'big' })).to.deep.equal(PAYMENT);
    expect(await answer('POST', '/api/admin/hooks/no-id', { size: 1 })).to.deep.equal(PAYMENT);
    expect((await answer('POST', `/api/admin/hooks/${ID}`, { size: 1 }, ''))[0]).to.equal(401);
    expect((await answer('POST', `/api/admin/hooks/${ID}`, { size: 1 }, 'editor'))[0]).to.equal(403);
    expect((await answer('GET', `/api/admin/hooks/${ID}`))[0]).to.equal(200);
    licensed.add('webhook-pro');
    expect((await answer('POST', `/api/admin/hooks/${ID}`, { size: 1 }))[0]).to.equal(200);
  });

  it('answers 404 in a tenant from which the feature is withheld, also on public routes, and in no other tenant', async () => {
    lacking.add('default/webhook').add('default/localization');
    expect(await answer('GET', `/api/admin/hooks/${ID}`)).to.deep.equal(NEVER_SERVED);
    expect(await answer('POST', `/api/admin/hooks/${ID}`, { size: 1 })).to.deep.equal(NEVER_SERVED);
    expect(await answer('GET', '/api/admin/open', undefined, '')).to.deep.equal(NEVER_SERVED);
    const elsewhere = await call('GET', `/api/admin/hooks/${ID}`, undefined, {
      authorization: 'Bearer super',
      'x-tenant-id': 'acme',
    });
    expect(elsewhere.status).to.equal(200);
  });

  it('refuses the declaration of a paid route without a feature', () => {
    expect(() =>
      compileRoute(
        route({
          ...shared,
          method: 'GET',
          path: '/x',
          operation: 'x',
          access: admins,
          capability: 'webhook-pro',
          handler: done,
        }),
      ),
    ).to.throw('a route with a capability must name its feature');
  });
});
