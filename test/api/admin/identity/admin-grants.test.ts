import { expect } from 'chai';
import type { Route } from '../../../../api/http/route.ts';
import { ADMIN_GRANT_NAMES, type AdminGrant } from '../../../../domain/identity/admin-grants.ts';
import { type Call, caller, statusAndError } from '../../../support/http.ts';
import { OWNER } from '../../../support/owner.ts';
import { useService } from '../../../support/service.ts';

/**
 * The routes that each grant allows: `X:read` the GET routes of a resource, `X:write` its other routes. No token may
 * call a route that is in no list.
 */
const ALLOWED_ROUTES: Readonly<Partial<Record<AdminGrant, readonly string[]>>> = {
  'schemas:read': [
    'GET /api/admin/schemas',
    'GET /api/admin/schemas/{name}',
    'GET /api/admin/schemas/{name}/stats',
    'GET /api/admin/schemas/presets',
    'GET /api/admin/schemas/canvas-layout',
    'GET /api/admin/schemas/export',
  ],
  'schemas:write': [
    'POST /api/admin/schemas',
    'DELETE /api/admin/schemas/{name}',
    'POST /api/admin/schemas/{name}/preview-ddl',
    'POST /api/admin/schemas/{name}/preview',
    'PUT /api/admin/schemas/{name}/rename',
    'PUT /api/admin/schemas/{name}/fields/{field}/rename',
    'POST /api/admin/schemas/presets',
    'POST /api/admin/schemas/presets/{id}',
    'DELETE /api/admin/schemas/presets/{id}',
    'PUT /api/admin/schemas/canvas-layout',
  ],
  'content:read': [
    'GET /api/admin/content',
    'GET /api/admin/content/{id}',
    'GET /api/admin/content/slug/{slug}',
    'GET /api/admin/content/{id}/revisions',
    'GET /api/admin/content/{id}/revisions/{rev_id}',
    'GET /api/admin/content/{id}/revisions/{a}/diff/{b}',
    'GET /api/admin/content/{id}/blame',
    'GET /api/admin/content/{id}/comments',
  ],
  'content:write': [
    'POST /api/admin/content',
    'PUT /api/admin/content/{id}',
    'DELETE /api/admin/content/{id}',
    'PUT /api/admin/content/{id}/publish',
    'PUT /api/admin/content/{id}/unpublish',
    'PUT /api/admin/content/{id}/archive',
    'PUT /api/admin/content/{id}/unarchive',
    'PUT /api/admin/content/{id}/undelete',
    'PUT /api/admin/content/{id}/revisions/{rev_id}/restore',
    'POST /api/admin/content/{id}/comments',
    'DELETE /api/admin/content/{id}/comments/{comment_id}',
  ],
  'webhooks:read': [
    'GET /api/admin/webhooks',
    'GET /api/admin/webhooks/{id}',
    'GET /api/admin/webhooks/{id}/deliveries',
    'GET /api/admin/webhook-dead-letters',
    'GET /api/admin/webhook-dead-letters/{id}',
  ],
  'webhooks:write': [
    'POST /api/admin/webhooks/{id}/test',
    'GET /api/admin/webhook-dead-letters',
    'GET /api/admin/webhook-dead-letters/{id}',
  ],
  'audit:read': ['GET /api/admin/audit', 'GET /api/admin/audit/{event_id}', 'GET /api/admin/audit/{event_id}/change'],
  'users:read': ['GET /api/admin/users'],
};

/** Routes of the same resources that no token may call: they need a session, or the rights of a super admin. */
const REFUSED_ROUTES: readonly string[] = [
  'PUT /api/admin/schemas/{name}',
  'GET /api/admin/schemas/{name}/history',
  'POST /api/admin/schemas/{name}/apply-pending',
  'POST /api/admin/schemas/migrate',
  'POST /api/admin/schemas/{name}/fields/{field}/recover',
  'POST /api/admin/schemas/import',
  'GET /api/admin/content/{id}/translations',
  'POST /api/admin/content/{id}/translations',
  'GET /api/admin/content/{id}/translations/{locale}',
  'PUT /api/admin/content/{id}/translations/{locale}',
  'DELETE /api/admin/content/{id}/translations/{locale}',
  'GET /api/admin/content/{id}/translations/{locale}/resolved',
  'POST /api/admin/webhooks',
  'PUT /api/admin/webhooks/{id}',
  'DELETE /api/admin/webhooks/{id}',
  'POST /api/admin/webhooks/{id}/rotate-secret',
  'GET /api/admin/audit/verify',
  'POST /api/admin/users',
  'PUT /api/admin/users/{id}/roles',
  'PUT /api/admin/users/{id}/state',
  'PUT /api/admin/users/{id}/password',
  'DELETE /api/admin/users/{id}',
  'GET /api/admin/users/{id}/memberships',
  'PUT /api/admin/users/{id}/memberships',
  'DELETE /api/admin/users/{id}/memberships/{tenant}',
];

const GRANTED_RESOURCE =
  /^\/api\/admin\/(schemas|content|webhooks|webhook-dead-letters|media|flows|audit|users|errors)(\/|$)/;
const ANY_ID = '00000000-0000-7000-8000-000000000000';
const concrete = (path: string) => path.replaceAll('{name}', 'nothing').replaceAll(/\{[^}]+\}/g, ANY_ID);
const lineOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;

describe('admin tokens on all routes', () => {
  const service = useService();
  const guarded = (api: 'admin' | 'content') =>
    service.service().routes.filter((route) => route.api === api && route.access.kind !== 'public');
  const grantsOf = (line: string): readonly string[] =>
    ADMIN_GRANT_NAMES.filter((grant) => ALLOWED_ROUTES[grant]?.includes(line));

  async function tokenWith(grants: readonly string[]): Promise<Readonly<Record<'admin' | 'content', Call>>> {
    const reply = await service.owner('POST', '/api/admin/admin-tokens', {
      name: 'walk',
      grants,
      password: OWNER.password,
    });
    expect(reply.status, reply.text).to.equal(201);
    const headers = { authorization: `Bearer ${reply.json<{ raw_token: string }>().raw_token}` };
    return {
      admin: caller(() => service.service().adminUrl, headers),
      content: caller(() => service.service().contentUrl, headers),
    };
  }
  const ask = (call: Call, { method, path }: Route) =>
    call(method, concrete(path), method === 'GET' || method === 'DELETE' ? undefined : {});

  it('have a decision for every route of the resources that grants cover', () => {
    const undecided = guarded('admin')
      .map(lineOf)
      .filter(
        (line) =>
          GRANTED_RESOURCE.test(line.split(' ')[1] ?? '') &&
          grantsOf(line).length === 0 &&
          !REFUSED_ROUTES.includes(line),
      );
    expect(undecided, 'put each into ALLOWED_ROUTES (and give its declaration `grants`) or into REFUSED_ROUTES').to.be
      .empty;
    for (const route of guarded('admin'))
      expect([...(route.grants ?? [])].toSorted(), lineOf(route)).to.deep.equal(
        [...grantsOf(lineOf(route))].toSorted(),
      );
  });

  it('with all grants may call exactly the routes of the table', async () => {
    const { admin } = await tokenWith(ADMIN_GRANT_NAMES);
    for (const route of guarded('admin')) {
      const reply = await ask(admin, route);
      if (grantsOf(lineOf(route)).length === 0)
        expect(statusAndError(reply), lineOf(route)).to.deep.equal([403, 'This route needs a signed-in session.']);
      else
        expect([401, 403, 500], `${lineOf(route)} answers ${reply.status} ${reply.text.slice(0, 200)}`).to.not.include(
          reply.status,
        );
    }
  });

  it('without the right grant are refused with 403', async () => {
    const { admin } = await tokenWith(['errors:write']);
    for (const route of guarded('admin')) {
      const reply = await ask(admin, route);
      const message =
        grantsOf(lineOf(route)).length > 0 ? 'insufficient grant' : 'This route needs a signed-in session.';
      expect(statusAndError(reply), lineOf(route)).to.deep.equal([403, message]);
    }
  });

  it('are refused with 401 on the Content API, also with all grants', async () => {
    const { content } = await tokenWith(ADMIN_GRANT_NAMES);
    for (const route of guarded('content')) {
      const reply = await ask(content, route);
      expect(statusAndError(reply), lineOf(route)).to.deep.equal([401, 'authentication required']);
    }
  });

  it('can list the routes of each grant', async () => {
    const grants = (await service.owner('GET', '/api/admin/admin-tokens/grants')).json<
      { name: string; description: string; routes: string[] }[]
    >();
    expect(grants.map(({ name }) => name)).to.deep.equal([
      'schemas:read',
      'schemas:write',
      'content:read',
      'content:write',
      'webhooks:read',
      'webhooks:write',
      'media:read',
      'media:write',
      'flows:read',
      'flows:run',
      'audit:read',
      'users:read',
      'errors:write',
    ]);
    const served = new Set(guarded('admin').map(lineOf));
    for (const { name, description, routes } of grants) {
      expect(description).to.have.length.greaterThan(10);
      expect(routes.toSorted(), name).to.deep.equal(
        (ALLOWED_ROUTES[name as AdminGrant] ?? []).filter((line) => served.has(line)).toSorted(),
      );
    }
  });
});
