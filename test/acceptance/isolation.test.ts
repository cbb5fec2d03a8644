import { expect } from 'chai';
import type { Route } from '../../api/http/route.ts';
import type { Reply } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { OWNER } from '../support/owner.ts';
import { useService } from '../support/service.ts';
import { type WebhookReceiver, startReceiver } from '../support/webhook-receiver.ts';

/** The objects of one tenant, used as values of path parameters. */
type Fixture = Readonly<
  Record<
    | 'slug'
    | 'type'
    | 'entry'
    | 'revision'
    | 'webhook'
    | 'key'
    | 'token'
    | 'rule'
    | 'comment'
    | 'event'
    | 'preset'
    | 'entrySlug'
    | 'deadLetter'
    | 'release',
    string
  >
>;

const ofType = ({ type }: Fixture) => ({ schema: type, name: type, field: 'title' });

/** Kinds of path parameters: for each kind, the values that name an object of a tenant. */
const KINDS: Readonly<Record<string, (of: Fixture) => Readonly<Record<string, string>>>> = {
  type: ofType,
  // Deleting a content type that does not exist succeeds.
  'silent type': ofType,
  entry: ({ entry }) => ({ schema: 'note', id: entry, field: 'parent' }),
  revision: ({ entry, revision }) => ({ schema: 'note', id: entry, rev_id: revision, a: '1', b: '2' }),
  webhook: ({ webhook }) => ({ id: webhook }),
  'dead letter': ({ deadLetter }) => ({ id: deadLetter }),
  key: ({ key }) => ({ id: key }),
  token: ({ token }) => ({ id: token }),
  rule: ({ rule }) => ({ id: rule }),
  comment: ({ entry, comment }) => ({ id: entry, comment_id: comment }),
  event: ({ event }) => ({ event_id: event }),
  preset: ({ preset }) => ({ id: preset }),
  release: ({ release }) => ({ id: release }),
  slug: ({ entrySlug }) => ({ slug: entrySlug }),
};

/**
 * Every route with a path parameter, and the kind of the parameter. `install`: belongs to no tenant, so it is for super
 * admins only or the same for all tenants. `own name`: a new name, which each tenant chooses freely. The test fails
 * when a route is missing here.
 */
const ROUTES = `
  GET    /api/admin/audit/{event_id}                               event
  GET    /api/admin/audit/{event_id}/change                        event
  PUT    /api/admin/users/{id}/roles                               install
  PUT    /api/admin/users/{id}/state                               install
  PUT    /api/admin/users/{id}/password                            install
  DELETE /api/admin/users/{id}                                     install
  GET    /api/admin/tenants/{slug}                                 install
  PUT    /api/admin/tenants/{slug}                                 install
  DELETE /api/admin/tenants/{slug}                                 install
  GET    /api/admin/users/{id}/memberships                         install
  PUT    /api/admin/users/{id}/memberships                         install
  DELETE /api/admin/users/{id}/memberships/{tenant}                install
  GET    /api/admin/tenant-members/{tenant}                        install
  GET    /api/admin/tenant-features/{tenant}                       install
  PUT    /api/admin/tenant-features/{tenant}                       install
  GET    /api/admin/plugins/{name}/schema                          install
  GET    /api/admin/plugins/{name}/config                          install
  PUT    /api/admin/plugins/{name}/config                          install
  POST   /api/admin/plugins/{name}/config/reset                    install
  PUT    /api/admin/permissions/{id}                               rule
  DELETE /api/admin/permissions/{id}                               rule
  POST   /api/admin/api-keys/{id}/revoke                           key
  GET    /api/admin/api-keys/{id}/audit                            key
  POST   /api/admin/api-keys/{id}/rotate                           key
  PATCH  /api/admin/api-keys/{id}/monthly-limit                    key
  GET    /api/admin/usage/api-key/{id}                             key
  DELETE /api/admin/api-keys/{id}                                  key
  POST   /api/admin/admin-tokens/{id}/rotate                       token
  GET    /api/admin/admin-tokens/{id}/requests                     token
  DELETE /api/admin/admin-tokens/{id}                              token
  GET    /api/v1/schemas/{name}                                    type
  GET    /api/admin/schemas/{name}                                 type
  PUT    /api/admin/schemas/{name}                                 type
  PUT    /api/admin/schemas/{name}/rename                          type
  PUT    /api/admin/schemas/{name}/fields/{field}/rename           type
  POST   /api/admin/schemas/{name}/fields/{field}/recover          type
  POST   /api/admin/schemas/{name}/apply-pending                   type
  GET    /api/admin/schemas/{name}/history                         type
  GET    /api/admin/schemas/{name}/stats                           type
  DELETE /api/admin/schemas/{name}                                 silent type
  POST   /api/admin/schemas/{name}/preview-ddl                     own name
  POST   /api/admin/schemas/{name}/preview                         own name
  POST   /api/admin/schemas/presets/{id}                           preset
  DELETE /api/admin/schemas/presets/{id}                           preset
  GET    /api/v1/content/{schema}                                  type
  GET    /api/v1/content/{schema}/cursor                           type
  GET    /api/v1/content/{schema}/changes                          type
  POST   /api/v1/content/{schema}                                  type
  POST   /api/v1/content/{schema}/bulk                             type
  GET    /api/v1/content/{schema}/{id}                             entry
  GET    /api/v1/content/{schema}/{id}/blame                       entry
  GET    /api/v1/content/{schema}/{id}/relations/{field}           entry
  GET    /api/v1/content/{schema}/{id}/revisions                   entry
  GET    /api/v1/content/{schema}/{id}/revisions/{rev_id}          revision
  GET    /api/v1/content/{schema}/{id}/revisions/{a}/diff/{b}      revision
  PUT    /api/v1/content/{schema}/{id}                             entry
  PUT    /api/v1/content/{schema}/{id}/publish                     entry
  PUT    /api/v1/content/{schema}/{id}/unpublish                   entry
  PUT    /api/v1/content/{schema}/{id}/archive                     entry
  PUT    /api/v1/content/{schema}/{id}/unarchive                   entry
  PUT    /api/v1/content/{schema}/{id}/undelete                    entry
  PUT    /api/v1/content/{schema}/{id}/relations/{field}           entry
  PUT    /api/v1/content/{schema}/{id}/revisions/{rev_id}/restore  revision
  DELETE /api/v1/content/{schema}/{id}                             entry
  GET    /api/admin/content/slug/{slug}                            slug
  GET    /api/admin/content/{id}                                   entry
  GET    /api/admin/content/{id}/blame                             entry
  GET    /api/admin/content/{id}/revisions                         entry
  GET    /api/admin/content/{id}/revisions/{rev_id}                revision
  GET    /api/admin/content/{id}/revisions/{a}/diff/{b}            revision
  PUT    /api/admin/content/{id}                                   entry
  PUT    /api/admin/content/{id}/publish                           entry
  PUT    /api/admin/content/{id}/unpublish                         entry
  PUT    /api/admin/content/{id}/archive                           entry
  PUT    /api/admin/content/{id}/unarchive                         entry
  PUT    /api/admin/content/{id}/undelete                          entry
  PUT    /api/admin/content/{id}/revisions/{rev_id}/restore        revision
  GET    /api/admin/content/{id}/comments                          entry
  POST   /api/admin/content/{id}/comments                          entry
  DELETE /api/admin/content/{id}/comments/{comment_id}             comment
  DELETE /api/admin/content/{id}                                   entry
  GET    /api/admin/releases/{id}                                  release
  PUT    /api/admin/releases/{id}                                  release
  PUT    /api/admin/releases/{id}/entries                          release
  POST   /api/admin/releases/{id}/publish                          release
  DELETE /api/admin/releases/{id}                                  release
  GET    /api/admin/webhooks/{id}                                  webhook
  PUT    /api/admin/webhooks/{id}                                  webhook
  POST   /api/admin/webhooks/{id}/rotate-secret                    webhook
  POST   /api/admin/webhooks/{id}/test                             webhook
  GET    /api/admin/webhooks/{id}/deliveries                       webhook
  DELETE /api/admin/webhooks/{id}                                  webhook
  GET    /api/admin/webhook-dead-letters/{id}                      dead letter
  GET    /api/admin/auth/device/{user_code}                        install
  POST   /api/admin/auth/device/{user_code}/approve                install
  POST   /api/admin/auth/device/{user_code}/deny                   install
  GET    /docs/{file}                                              install
  GET    /docs/{file}                                              install
`
  .trim()
  .split('\n')
  .map((line) => {
    const [, method = '', path = '', kind = ''] = /^\s*(\S+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    return { method, path, kind };
  });

/** Every GET route without a path parameter. `install`: the response does not depend on the tenant. */
const LISTS = `
  GET /api/admin/health                    install
  GET /api/admin/ready                     install
  GET /api/v1/health                       install
  GET /api/v1/ready                        install
  GET /api/admin/metrics                   install
  GET /api/admin/openapi/public.json       install
  GET /api/admin/openapi.json              install
  GET /api/admin/openapi/admin.json        install
  GET /api/admin/asyncapi.json             install
  GET /api/v1/openapi.json                 tenant
  GET /api/admin/auth/mfa                  install
  GET /api/admin/config                    install
  GET /api/admin/entitlements              install
  GET /api/admin/license                   install
  GET /api/admin/plugins/status            install
  GET /api/admin/plugins/running           install
  GET /api/admin/audit/verify              install
  GET /api/admin/debug/gc-config           install
  GET /api/admin/debug/latency             install
  GET /api/admin/pool/health               install
  GET /api/admin/projections/parked        install
  GET /api/admin/security/controls         install
  GET /api/admin/users                     install
  GET /api/admin/tenants                   install
  GET /api/admin/auth/me                   install
  GET /api/admin/auth/memberships          install
  GET /api/admin/audit                     tenant
  GET /api/admin/permissions               tenant
  GET /api/admin/access                    tenant  ?role=editor
  GET /api/admin/api-keys                  tenant
  GET /api/admin/admin-tokens              tenant
  GET /api/admin/admin-tokens/grants       install
  GET /api/admin/schemas                   tenant
  GET /api/admin/schemas/presets           tenant
  GET /api/admin/schemas/canvas-layout     tenant
  GET /api/admin/migrate                   tenant
  GET /api/v1/schemas                      tenant
  GET /api/admin/content                   tenant
  GET /api/admin/releases                  tenant
  GET /api/admin/webhooks                  tenant
  GET /api/admin/webhook-dead-letters      tenant
`
  .trim()
  .split('\n')
  .map((line) => {
    const [, path = '', kind = '', query = ''] = /^\s*GET\s+(\S+)\s+(\S+)\s*(\S*)\s*$/.exec(line) ?? [];
    return { path, kind, query };
  });

/** Valid bodies, so that a write is refused only because its object is not found. */
const HOOK = { name: 'taken over', url: 'https://taken-over.example/', events: ['after_create'] };
const BODIES: Readonly<Record<string, unknown>> = {
  'PATCH /api/admin/api-keys/{id}/monthly-limit': { monthly_limit: 0 },
  'POST /api/admin/admin-tokens/{id}/rotate': { password: OWNER.password },
  'PUT /api/admin/webhooks/{id}': HOOK,
  'PUT /api/admin/schemas/{name}': { fields: [{ name: 'title', field_type: 'text' }] },
  'PUT /api/admin/schemas/{name}/rename': { name: 'taken_over', new_name: 'taken_over' },
  'PUT /api/admin/schemas/{name}/fields/{field}/rename': { name: 'taken_over', new_name: 'taken_over' },
  'POST /api/v1/content/{schema}': { data: { title: 'x' } },
  'POST /api/v1/content/{schema}/bulk': { entries: [{ data: { title: 'x' } }] },
  'PUT /api/v1/content/{schema}/{id}': { data: { title: 'x' } },
  'PUT /api/admin/content/{id}': { data: { title: 'x' } },
  'PUT /api/v1/content/{schema}/{id}/relations/{field}': { ids: [] },
  'POST /api/admin/content/{id}/comments': { body: 'x' },
  'PUT /api/admin/releases/{id}': { name: 'taken over' },
  'PUT /api/admin/releases/{id}/entries': { items: [] },
};

const lineOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
const fill = (path: string, values: Readonly<Record<string, string>>) =>
  path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? 'missing');

describe('a tenant', function () {
  this.timeout(60_000);
  // The setup fills two tenants with one object of each kind.
  const service = useService({
    environment: licenseEnvironment({ capabilities: ['content-pro', 'schema-pro', 'webhook-pro'] }),
  });
  const declared = (): readonly Route[] => service.service().routes;
  let receiver: WebhookReceiver | undefined;
  after(() => receiver?.close());
  let acme: Fixture;
  let brand: Fixture;

  const as =
    (tenant: string, api: string) =>
    (method: string, path: string, body?: unknown): Promise<Reply> =>
      (api === 'admin' ? service.owner : service.ownerContent)(
        method,
        path,
        body ?? (method === 'GET' || method === 'DELETE' ? undefined : {}),
        { 'x-tenant-id': tenant },
      );

  /** Fills a tenant. All texts in it contain its slug. */
  async function fillTenant(slug: string): Promise<Fixture> {
    expect((await service.owner('POST', '/api/admin/tenants', { slug })).status).to.equal(201);
    const [admin, content] = [as(slug, 'admin'), as(slug, 'content')];
    const made = async (reply: Promise<Reply>) => {
      const done = await reply;
      expect(done.status, done.text).to.be.within(200, 299);
      return done.json<{ id: string; slug?: string; version: number }>();
    };
    const fields = [
      { name: 'title', field_type: 'text' },
      { name: 'parent', field_type: 'relation', relation_to: 'note', relation_type: 'many_to_many' },
    ];
    const type = `only_${slug}`;
    await made(
      admin('POST', '/api/admin/schemas', { name: 'note', with_draft_publish: true, with_soft_delete: true, fields }),
    );
    await made(
      admin('POST', '/api/admin/schemas', {
        name: type,
        fields: [
          { name: 'title', field_type: 'text' },
          { name: 'gone', field_type: 'text' },
        ],
      }),
    );
    await made(admin('POST', '/api/admin/schemas', { name: type, fields: [{ name: 'title', field_type: 'text' }] }));
    const webhook = await made(
      admin('POST', '/api/admin/webhooks', { name: `hook of ${slug}`, url: receiver?.url, events: ['after_create'] }),
    );
    const entry = await made(content('POST', '/api/v1/content/note', { data: { title: `note of ${slug}` } }));
    await made(content('PUT', `/api/v1/content/note/${entry.id}`, { data: { title: `second note of ${slug}` } }));
    await made(content('POST', `/api/v1/content/${type}`, { data: { title: `only of ${slug}` } }));
    const titled = await made(
      admin('POST', '/api/admin/content', {
        schema_name: 'note',
        data: { title: `slugged ${slug}` },
        slug: `slug-${slug}`,
      }),
    );
    const [revision] = (await content('GET', `/api/v1/content/note/${entry.id}/revisions`)).json<{ id: string }[]>();
    const key = await made(
      admin('POST', '/api/admin/api-keys', { name: `key of ${slug}`, roles: ['editor'], scopes: ['*:*'] }),
    );
    const rule = await made(
      admin('POST', '/api/admin/permissions', { role: `role_of_${slug}`, schema_name: '*', actions: ['read'] }),
    );
    const token = await made(
      admin('POST', '/api/admin/admin-tokens', {
        name: `token of ${slug}`,
        grants: ['content:read'],
        password: OWNER.password,
      }),
    );
    const comment = await made(
      admin('POST', `/api/admin/content/${entry.id}/comments`, { body: `comment of ${slug}` }),
    );
    const preset = await made(
      admin('POST', '/api/admin/schemas/presets', {
        document: {
          id: `preset-${slug}`,
          name: `preset of ${slug}`,
          schemas: [{ name: `from_${slug}`, fields: [{ name: 'title', field_type: 'text' }] }],
        },
      }),
    );
    await made(admin('PUT', '/api/admin/schemas/canvas-layout', { positions: { [type]: { x: 1, y: 2 } } }));
    const release = await made(admin('POST', '/api/admin/releases', { name: `release of ${slug}` }));
    const [event] = (await admin('GET', `/api/admin/audit?limit=1&resource=entry:${entry.id}`)).json<{
      data: { id: string }[];
    }>().data;
    await admin('POST', `/api/admin/webhooks/${webhook.id}/test`, {});
    const [deadLetter] = await service.database.db().query<{ id: string }>(
      `insert into operational.webhook_dead_letters (id, tenant_id, webhook_id, webhook_name, message_id, event, schema, request_body, last_error, total_attempts)
       values (gen_random_uuid(), $1, $2, $3, gen_random_uuid(), 'after_create', 'note', '{}', $3, 1) returning id`,
      [slug, webhook.id, `hook of ${slug}`],
    );
    return {
      slug,
      type,
      entry: entry.id,
      revision: revision!.id,
      webhook: webhook.id,
      key: key.id,
      token: token.id,
      rule: rule.id,
      comment: comment.id,
      event: event!.id,
      preset: preset.id,
      entrySlug: titled.slug ?? '',
      deadLetter: deadLetter!.id,
      release: release.id,
    };
  }

  before(async () => {
    receiver = await startReceiver();
    acme = await fillTenant('acme');
    brand = await fillTenant('brand');
  });

  it('is isolated on every route: this test covers each route with a path parameter', () => {
    const withParameters = declared()
      .filter(({ path }) => path.includes('{'))
      .map(lineOf);
    expect(ROUTES.map(lineOf).toSorted()).to.deep.equal(withParameters.toSorted());
    for (const { kind } of ROUTES) expect([...Object.keys(KINDS), 'install', 'own name']).to.include(kind);
    const withoutParameters = declared()
      .filter(({ method, path, access }) => method === 'GET' && !path.includes('{') && access.kind !== 'public')
      .map(({ path }) => path);
    expect(LISTS.map(({ path }) => path).toSorted()).to.deep.equal(withoutParameters.toSorted());
  });

  it('cannot reach objects of another tenant by id, name or slug', async () => {
    for (const { method, path, kind } of ROUTES) {
      const values = KINDS[kind];
      if (!values) continue;
      const api = path.startsWith('/api/admin/') ? 'admin' : 'content';
      const tries = [values(acme), ...(path.includes('{schema}') ? [{ ...values(acme), schema: acme.type }] : [])];
      for (const parameters of tries) {
        const reply = await as('brand', api)(
          method,
          `${fill(path, parameters)}${kind === 'slug' ? '?schema=note' : ''}`,
          BODIES[`${method} ${path}`],
        );
        expect(reply.status, `${method} ${path} (${kind}): ${reply.text.slice(0, 300)}`).to.equal(
          kind === 'silent type' ? 204 : 404,
        );
        expect(reply.text).to.not.contain('of acme');
      }
    }
  });

  it('cannot be reached with an API key or a user of another tenant', async () => {
    const { raw_key: rawKey } = (
      await as('brand', 'admin')('POST', '/api/admin/api-keys', { name: 'k', roles: ['editor'], scopes: ['*:*'] })
    ).json<{ raw_key: string }>();
    const who = { email: 'of-brand@palimpsest.test', password: 'Correct-Horse-8-battery' };
    await service.owner('POST', '/api/admin/users', { ...who, roles: ['admin', 'editor'], tenant_id: 'brand' });
    const { token } = (await service.content('POST', '/api/v1/auth/token', who)).json<{ token: string }>();
    for (const credential of [{ 'x-api-key': rawKey }, { authorization: `Bearer ${token}` }]) {
      const headers = { ...credential, 'x-tenant-id': 'acme' };
      expect((await service.content('GET', `/api/v1/content/note/${acme.entry}`, undefined, headers)).status).to.equal(
        404,
      );
      expect(
        (await service.content('DELETE', `/api/v1/content/note/${acme.entry}`, undefined, headers)).status,
      ).to.equal(404);
      expect((await service.content('GET', `/api/v1/content/note/${brand.entry}`, undefined, headers)).status).to.equal(
        200,
      );
      expect((await service.content('GET', '/api/v1/content/note', undefined, headers)).text).to.not.contain('of acme');
    }
  });

  it('lists its own objects and none of another tenant', async () => {
    const foreign = [...Object.values(acme), 'of acme', 'of_acme'].filter((value) => value !== '' && value !== '1');
    const lists = [
      ...LISTS.filter(({ kind }) => kind === 'tenant').map(({ path, query }) => ({
        path: `${path}${query}`,
        own: !['/api/admin/access', '/api/admin/migrate'].includes(path),
      })),
      ...['', '/cursor', '?filters[_status]=draft', '?sort=title', '?q=note', '/changes'].map((end) => ({
        path: `/api/v1/content/note${end}`,
        own: false,
      })),
      { path: `/api/v1/content/note/${brand.entry}/revisions`, own: false },
      { path: `/api/admin/webhooks/${brand.webhook}/deliveries`, own: false },
      { path: `/api/admin/content/${brand.entry}/comments`, own: true },
      { path: '/api/admin/content?q=note', own: false },
      { path: '/api/admin/audit?resource=webhook', own: false },
      { path: `/api/admin/audit?resource=webhook:${acme.webhook}`, own: false },
      { path: `/api/admin/audit?resource=${acme.entry}`, own: false },
    ];
    for (const { path, own } of lists) {
      const reply = await as('brand', path.startsWith('/api/admin/') ? 'admin' : 'content')('GET', path);
      expect(reply.status, `${path}: ${reply.text.slice(0, 300)}`).to.equal(200);
      for (const value of foreign) expect(reply.text, `${path} shows ${value}`).to.not.contain(value);
      if (own) expect(reply.text, `${path} is empty`).to.match(/brand/);
    }
  });

  it('is not changed by refused requests of another tenant, and can reach all its own objects', async () => {
    // Send the deleting requests last.
    for (const { method, path, kind } of [...ROUTES].toSorted(
      (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
    )) {
      const values = KINDS[kind];
      // A renamed field no longer exists, and an existing value cannot be recovered.
      if (!values || /rename|recover/.test(path)) continue;
      if (method === 'DELETE' && /content\/\{(id|schema)\}/.test(path) && kind === 'entry') continue;
      const api = path.startsWith('/api/admin/') ? 'admin' : 'content';
      const reply = await as('acme', api)(
        method,
        `${fill(path, values(acme))}${kind === 'slug' ? '?schema=note' : ''}`,
        BODIES[`${method} ${path}`],
      );
      expect(reply.status, `${method} ${path} (${kind}): ${reply.text.slice(0, 300)}`).to.not.equal(404);
    }
  });

  it('can be deleted with all its data, while another tenant keeps its data', async () => {
    const tables = async () => {
      const found = await service.database
        .db()
        .query<{ name: string }>(
          `select format('%I.%I', table_schema, table_name) as name from information_schema.columns where table_schema like 'rm\\_%' and column_name = 'tenant_id'`,
        );
      const counts = await Promise.all(
        found.map(
          async ({ name }) =>
            [
              name,
              await Promise.all(
                ['acme', 'brand'].map(
                  async (slug) =>
                    (
                      await service.database
                        .db()
                        .query<{ n: number }>(`select count(*)::int as n from ${name} where tenant_id = $1`, [slug])
                    )[0]?.n ?? 0,
                ),
              ),
            ] as const,
        ),
      );
      return new Map(counts);
    };
    const before = await tables();
    expect((await service.owner('DELETE', '/api/admin/tenants/acme?confirm=acme')).status).to.equal(204);
    const after = await tables();
    expect([...after].filter(([, [ofAcme]]) => ofAcme !== 0)).to.deep.equal([]);
    expect([...after].map(([name, [, ofBrand]]) => [name, ofBrand])).to.deep.equal(
      [...before].filter(([name]) => after.has(name)).map(([name, [, ofBrand]]) => [name, ofBrand]),
    );
    expect(
      [...before.keys()].filter((name) => !after.has(name)),
      'tables that were of acme alone',
    ).to.deep.equal(['rm_content.from_acme']);
    expect((await as('brand', 'content')('GET', `/api/v1/content/note/${brand.entry}`)).status).to.equal(200);
    const written = await as('brand', 'content')('POST', '/api/v1/content/note', { data: { title: 'after it' } });
    expect(written.status, written.text).to.equal(201);
  });
});
