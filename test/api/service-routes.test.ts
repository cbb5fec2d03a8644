import { expect } from 'chai';
import type { Route } from '../../api/http/route.ts';
import { caller, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';

/**
 * All routes of the service with their allowed callers: anyone; credential (a session, or an API key with the scope);
 * editors (a credential with a role that may write content); signed in (a session); session (a session; keys and tokens
 * get a message of their own); admin and super_admin (a session with such a role).
 */
const EXPECTED_ROUTES = `
  GET    /api/admin/setup                                          anyone
  POST   /api/admin/setup                                          anyone
  POST   /api/admin/auth/login                                     anyone
  POST   /api/admin/auth/refresh                                   anyone
  POST   /api/admin/auth/logout                                    signed in
  GET    /api/admin/auth/me                                        signed in
  POST   /api/admin/auth/device                                    anyone
  POST   /api/admin/auth/device/token                              anyone
  GET    /api/admin/auth/device/{user_code}                        session admin
  POST   /api/admin/auth/device/{user_code}/approve                session admin
  POST   /api/admin/auth/device/{user_code}/deny                   session admin
  POST   /api/admin/auth/magic-link/request                        anyone
  POST   /api/admin/auth/magic-link/verify                         anyone
  POST   /api/v1/auth/token                                        anyone
  GET    /.well-known/jwks.json                                    anyone
  GET    /api/admin/users                                          super_admin
  POST   /api/admin/users                                          super_admin
  PUT    /api/admin/users/{id}/roles                               super_admin
  PUT    /api/admin/users/{id}/state                               super_admin
  PUT    /api/admin/users/{id}/password                            super_admin
  DELETE /api/admin/users/{id}                                     super_admin
  GET    /api/admin/tenants                                        super_admin
  POST   /api/admin/tenants                                        super_admin
  GET    /api/admin/tenants/{slug}                                 super_admin
  PUT    /api/admin/tenants/{slug}                                 super_admin
  DELETE /api/admin/tenants/{slug}                                 super_admin
  GET    /api/admin/users/{id}/memberships                         super_admin
  PUT    /api/admin/users/{id}/memberships                         super_admin
  DELETE /api/admin/users/{id}/memberships/{tenant}                super_admin
  GET    /api/admin/tenant-members/{tenant}                        super_admin
  GET    /api/admin/auth/memberships                               signed in
  GET    /api/admin/permissions                                    admin
  POST   /api/admin/permissions                                    admin
  PUT    /api/admin/permissions/{id}                               admin
  DELETE /api/admin/permissions/{id}                               admin
  GET    /api/admin/access                                         admin
  GET    /api/admin/api-keys                                       session admin
  POST   /api/admin/api-keys                                       session admin
  POST   /api/admin/api-keys/{id}/revoke                           session admin
  DELETE /api/admin/api-keys/{id}                                  session admin
  GET    /api/admin/api-keys/{id}/audit                            session admin
  POST   /api/admin/api-keys/{id}/rotate                           session admin
  PATCH  /api/admin/api-keys/{id}/monthly-limit                    session admin
  GET    /api/admin/usage/api-key/{id}                             session admin
  GET    /api/admin/admin-tokens                                   session admin
  POST   /api/admin/admin-tokens                                   session admin
  GET    /api/admin/admin-tokens/grants                            session admin
  POST   /api/admin/admin-tokens/{id}/rotate                       session admin
  DELETE /api/admin/admin-tokens/{id}                              session admin
  GET    /api/admin/admin-tokens/{id}/requests                     session admin
  GET    /api/v1/schemas                                           credential
  GET    /api/v1/schemas/{name}                                    credential
  GET    /api/v1/content/{schema}                                  credential
  GET    /api/v1/content/{schema}/cursor                           credential
  GET    /api/v1/content/{schema}/changes                          credential
  GET    /api/v1/content/{schema}/{id}                             credential
  POST   /api/v1/content/{schema}                                  editors
  POST   /api/v1/content/{schema}/bulk                             editors
  PUT    /api/v1/content/{schema}/{id}                             editors
  DELETE /api/v1/content/{schema}/{id}                             editors
  PUT    /api/v1/content/{schema}/{id}/publish                     editors
  PUT    /api/v1/content/{schema}/{id}/unpublish                   editors
  PUT    /api/v1/content/{schema}/{id}/archive                    editors
  PUT    /api/v1/content/{schema}/{id}/unarchive                  editors
  PUT    /api/v1/content/{schema}/{id}/undelete                   editors
  GET    /api/admin/content                                       signed in
  POST   /api/admin/content                                       signed in
  GET    /api/admin/content/{id}                                  signed in
  PUT    /api/admin/content/{id}                                  signed in
  DELETE /api/admin/content/{id}                                  signed in
  GET    /api/admin/content/slug/{slug}                           signed in
  PUT    /api/admin/content/{id}/publish                          signed in
  PUT    /api/admin/content/{id}/unpublish                        signed in
  PUT    /api/admin/content/{id}/archive                          signed in
  PUT    /api/admin/content/{id}/unarchive                        signed in
  PUT    /api/admin/content/{id}/undelete                         signed in
  GET    /api/admin/content/{id}/revisions                        signed in
  GET    /api/admin/content/{id}/revisions/{rev_id}               signed in
  GET    /api/admin/content/{id}/revisions/{a}/diff/{b}           signed in
  PUT    /api/admin/content/{id}/revisions/{rev_id}/restore       signed in
  GET    /api/admin/content/{id}/blame                            signed in
  GET    /api/admin/content/{id}/comments                         signed in
  POST   /api/admin/content/{id}/comments                         signed in
  DELETE /api/admin/content/{id}/comments/{comment_id}            signed in
  POST   /api/admin/undo                                          super_admin
  GET    /api/v1/content/{schema}/{id}/relations/{field}           credential
  PUT    /api/v1/content/{schema}/{id}/relations/{field}           editors
  GET    /api/v1/content/{schema}/{id}/revisions                   credential
  GET    /api/v1/content/{schema}/{id}/blame                       credential
  PUT    /api/v1/content/{schema}/{id}/revisions/{rev_id}/restore  editors
  GET    /api/v1/content/{schema}/{id}/revisions/{rev_id}          credential
  GET    /api/v1/content/{schema}/{id}/revisions/{a}/diff/{b}      credential
  GET    /api/admin/schemas                                        signed in
  GET    /api/admin/schemas/{name}                                 signed in
  GET    /api/admin/schemas/{name}/stats                           signed in
  POST   /api/admin/schemas                                        admin
  PUT    /api/admin/schemas/{name}                                 super_admin
  DELETE /api/admin/schemas/{name}                                 admin
  POST   /api/admin/schemas/{name}/preview-ddl                     admin
  POST   /api/admin/schemas/{name}/preview                         admin
  GET    /api/admin/schemas/{name}/history                         super_admin
  PUT    /api/admin/schemas/{name}/rename                          admin
  PUT    /api/admin/schemas/{name}/fields/{field}/rename           admin
  POST   /api/admin/schemas/{name}/apply-pending                   session super_admin
  POST   /api/admin/schemas/migrate                                super_admin
  GET    /api/admin/migrate                                        super_admin
  POST   /api/admin/migrate/apply                                  session super_admin
  POST   /api/admin/schemas/{name}/fields/{field}/recover          super_admin
  GET    /api/admin/schemas/presets                                admin
  POST   /api/admin/schemas/presets                                admin
  POST   /api/admin/schemas/presets/{id}                           admin
  DELETE /api/admin/schemas/presets/{id}                           admin
  GET    /api/admin/schemas/canvas-layout                          admin
  PUT    /api/admin/schemas/canvas-layout                          admin
  GET    /api/admin/releases                                       writers
  POST   /api/admin/releases                                       writers
  GET    /api/admin/releases/{id}                                  writers
  PUT    /api/admin/releases/{id}                                  writers
  DELETE /api/admin/releases/{id}                                  writers
  PUT    /api/admin/releases/{id}/entries                          writers
  POST   /api/admin/releases/{id}/publish                          writers
  GET    /api/admin/webhooks                                       admin
  GET    /api/admin/webhooks/{id}                                  admin
  POST   /api/admin/webhooks                                       super_admin
  PUT    /api/admin/webhooks/{id}                                  super_admin
  DELETE /api/admin/webhooks/{id}                                  super_admin
  POST   /api/admin/webhooks/{id}/rotate-secret                    super_admin
  POST   /api/admin/webhooks/{id}/test                             admin
  GET    /api/admin/webhooks/{id}/deliveries                       admin
  GET    /api/admin/webhook-dead-letters                           admin
  GET    /api/admin/webhook-dead-letters/{id}                      admin
  POST   /api/admin/auth/mfa-verify                                anyone
  POST   /api/v1/auth/mfa-verify                                   anyone
  GET    /api/admin/auth/mfa                                       signed in
  POST   /api/admin/auth/mfa/setup                                 signed in
  POST   /api/admin/auth/mfa/enable                                signed in
  POST   /api/admin/auth/mfa/disable                               signed in
  POST   /api/admin/auth/password                                  signed in
  POST   /api/admin/auth/password-reset/request                    anyone
  POST   /api/admin/auth/password-reset/confirm                    anyone
  GET    /api/admin/audit                                          admin
  GET    /api/admin/audit/verify                                   super_admin
  GET    /api/admin/config                                         super_admin
  PUT    /api/admin/config                                         super_admin
  GET    /api/admin/pool/health                                    admin
  GET    /api/admin/debug/latency                                  admin
  GET    /api/admin/debug/gc-config                                admin
  POST   /api/admin/debug/gc-config                                super_admin
  GET    /api/admin/projections/parked                             super_admin
  POST   /api/admin/projections/parked/retry                       super_admin
  GET    /api/admin/security/controls                              super_admin
  GET    /api/admin/audit/{event_id}                               admin
  GET    /api/admin/audit/{event_id}/change                        admin
  GET    /docs                                                     anyone
  GET    /docs/{file}                                              anyone
  GET    /api/v1/openapi.json                                      credential
  GET    /api/admin/asyncapi.json                                  super_admin
  GET    /api/admin/openapi/public.json                            admin
  GET    /api/admin/openapi.json                                   admin
  GET    /api/admin/openapi/admin.json                             super_admin
  GET    /api/admin/plugins/status                                 admin
  GET    /api/admin/plugins/running                                signed in
  GET    /api/admin/plugins/{name}/schema                          admin
  GET    /api/admin/plugins/{name}/config                          admin
  PUT    /api/admin/plugins/{name}/config                          super_admin
  POST   /api/admin/plugins/{name}/config/reset                    super_admin
  GET    /api/admin/tenant-features/{tenant}                       session super_admin
  PUT    /api/admin/tenant-features/{tenant}                       session super_admin
  GET    /api/admin/entitlements                                   admin
  GET    /api/admin/license                                        signed in
  POST   /api/admin/gdpr/export                                     session super_admin
  POST   /api/admin/gdpr/erase                                      session super_admin
  POST   /api/admin/license/renew                                  session super_admin
  GET    /healthz                                                  anyone
  GET    /readyz                                                   anyone
  GET    /startup                                                  anyone
  GET    /api/admin/health                                         signed in
  GET    /api/admin/ready                                          signed in
  GET    /api/v1/health                                            credential
  GET    /api/v1/ready                                             credential
  GET    /api/admin/metrics                                        super_admin
`
  .trim()
  .split('\n')
  .map((line) => {
    const [, method = '', path = '', who = ''] = /^\s*(\S+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    return { method, path, who };
  });

/** The APIs that serve a path: both serve the probes and the reference page. */
function sidesOf(path: string): readonly string[] {
  if (['/healthz', '/readyz', '/startup', '/docs', '/docs/{file}'].includes(path)) return ['admin', 'content'];
  return path.startsWith('/api/admin/') ? ['admin'] : ['content'];
}

/**
 * The callers that a declaration allows. The Admin API refuses all API keys, so `credential` and `session` are equal
 * there.
 */
function declares({ access, api }: Route, who: string): boolean {
  const roles = access.kind === 'public' ? [] : (access.roles ?? []).toSorted();
  const holds = (...wanted: readonly string[]) => JSON.stringify(roles) === JSON.stringify(wanted);
  switch (who) {
    case 'anyone':
      return access.kind === 'public';
    case 'credential':
    case 'editors':
      return api === 'content' && access.kind === 'credential' && holds();
    case 'signed in':
      return api === 'admin' && access.kind !== 'public' && holds();
    case 'session admin':
      return access.kind === 'session' && holds('admin', 'super_admin');
    case 'writers':
      return access.kind === 'session' && holds('admin', 'editor', 'super_admin');
    case 'session super_admin':
      return access.kind === 'session' && holds('super_admin');
    case 'admin':
      return api === 'admin' && access.kind !== 'public' && holds('admin', 'super_admin');
    case 'super_admin':
      return api === 'admin' && access.kind !== 'public' && holds('super_admin');
    default:
      throw new Error(`unknown caller: ${who}`);
  }
}

const ANY_ID = '00000000-0000-7000-8000-000000000000';
const concrete = (path: string) => path.replaceAll(/\{(name|schema)\}/g, 'note').replaceAll(/\{[^}]+\}/g, ANY_ID);
const lineOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

describe('the routes of the service', () => {
  const service = useService();
  const side = (api: string) => (api === 'admin' ? service.admin : service.content);

  before(async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'note',
      with_draft_publish: true,
      fields: [{ name: 'title', field_type: 'text' }],
    });
  });

  it('are exactly the routes of the table above', () => {
    const served = service
      .service()
      .routes.map(({ api, method, path }) => `${api} ${method} ${path}`)
      .toSorted();
    const specified = EXPECTED_ROUTES.flatMap(({ method, path }) =>
      sidesOf(path).map((api) => `${api} ${method} ${path}`),
    ).toSorted();
    expect(served).to.deep.equal(specified);
  });

  it('have unique operation ids', () => {
    const operations = service.service().routes.map(({ operation }) => operation);
    expect(operations).to.deep.equal([...new Set(operations)]);
  });

  for (const { method, path, who } of EXPECTED_ROUTES) {
    it(`allow ${method} ${path} for: ${who}`, async () => {
      const routes = service.service().routes.filter((route) => lineOf(route) === lineOf({ method, path }));
      expect(routes.length).to.be.greaterThan(0);
      for (const route of routes) {
        expect(declares(route, who), JSON.stringify(route.access)).to.equal(true);
        const reply = await side(route.api)(
          method,
          concrete(path),
          method === 'GET' || method === 'DELETE' ? undefined : {},
        );
        const refused = reply.status === 401 && reply.text.includes('authentication required');
        expect(refused, `without a credential: ${reply.status} ${reply.text.slice(0, 200)}`).to.equal(who !== 'anyone');
      }
    });
  }

  it('allow API keys without a writer role to read but not to write', async () => {
    const reader = await service.key({ roles: ['reviewer'] });
    for (const { method, path, who } of EXPECTED_ROUTES.filter((route) => route.who === 'editors')) {
      const reply = await reader(method, concrete(path), method === 'DELETE' ? undefined : { data: {} });
      expect(statusAndError(reply), lineOf({ method, path }) + who).to.deep.equal([403, 'insufficient permissions']);
    }
  });

  it('refuse users without the role, and all API keys on the Admin API', async () => {
    const editor = { email: 'editor@palimpsest.test', password: 'Correct-Horse-8-battery' };
    expect((await service.owner('POST', '/api/admin/users', { ...editor, roles: ['editor'] })).status).to.equal(201);
    const { token } = (await service.admin('POST', '/api/admin/auth/login', editor)).json<{ token: string }>();
    const { raw_key } = (
      await service.owner('POST', '/api/admin/api-keys', { name: 'k', roles: ['editor'], scopes: ['*:*'] })
    ).json<{ raw_key: string }>();
    const asEditor = caller(() => service.service().adminUrl, { authorization: `Bearer ${token}` });
    const asKey = caller(() => service.service().adminUrl, { 'x-api-key': raw_key });
    for (const { method, path, who } of EXPECTED_ROUTES.filter(
      (route) => sidesOf(route.path).includes('admin') && !['anyone', 'signed in', 'writers'].includes(route.who),
    )) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const person = await asEditor(method, concrete(path), body);
      expect(person.status, `${method} ${path} (${who}) by an editor: ${person.text.slice(0, 200)}`).to.equal(403);
      const key = await asKey(method, concrete(path), body);
      const message = /^\/api\/admin\/(api-keys|usage\/api-key)/.test(path)
        ? 'API keys are managed by a signed-in user, not by another key'
        : 'This route needs a signed-in session.';
      expect(statusAndError(key), `${method} ${path} by a key`).to.deep.equal([403, message]);
    }
  });

  it('are the routes of the OpenAPI document', async () => {
    const document = (await service.owner('GET', '/api/admin/openapi.json')).json<{
      paths: Record<string, Record<string, unknown>>;
    }>();
    // The content type of this test adds its own paths.
    const generic = Object.entries(document.paths).filter(([path]) => !/^\/api\/v1\/content\/note(\/|$)/.test(path));
    const listed = generic.flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed.toSorted()).to.deep.equal(EXPECTED_ROUTES.map(lineOf).toSorted());
  });
});
