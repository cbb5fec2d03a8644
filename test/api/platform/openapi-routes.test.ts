import Ajv2020 from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { EVERY_FIELD, TAG, WHOLE_WITH_PARTS } from '../../support/every-field.ts';
import type { Call } from '../../support/http.ts';
import { lintOpenApi } from '../../support/lint-openapi.ts';
import { useService } from '../../support/service.ts';

type Response = {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly $ref?: string;
};
type Operation = {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly $ref?: string; readonly schema?: object }[];
  readonly responses: Readonly<Record<string, Response>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
};

const ALL = [
  TAG,
  ...EVERY_FIELD,
  { name: 'sealed', transports: { rest: 'off' }, fields: [] },
  { name: 'posted', transports: { rest: 'w' }, fields: [] },
  { name: 'shown', transports: { rest: 'r' }, fields: [] },
  { name: 'error', fields: [] },
];

describe('the OpenAPI documents of a service', () => {
  const service = useService();

  before(async function () {
    this.timeout(60_000);
    for (const type of ALL) {
      const made = await service.owner('POST', '/api/admin/schemas', type);
      expect(made.status, made.text).to.equal(200);
    }
    const saved = await service.owner('PUT', '/api/admin/schemas/whole', WHOLE_WITH_PARTS);
    expect(saved.status, saved.text).to.equal(200);
  });

  for (const path of ['/api/admin/openapi/public.json', '/api/admin/openapi/admin.json', '/api/admin/openapi.json']) {
    it(`at ${path} pass the linter with content types of every field type`, async function () {
      this.timeout(60_000);
      const reply = await service.owner('GET', path);
      expect(reply.status).to.equal(200);
      expect(await lintOpenApi(reply.json())).to.deep.equal([]);
    });
  }

  async function publicDocument(path = '/api/v1/openapi.json', call: Call = service.ownerContent): Promise<Document> {
    const reply = await call('GET', path);
    expect(reply.status, reply.text.slice(0, 200)).to.equal(200);
    return reply.json<Document>();
  }
  const operation = (document: Document, method: string, path: string) =>
    document.paths[path]?.[method] ?? expect.fail(`${method} ${path} is missing`);
  /** Compiles a schema of the document. */
  function checker(document: Document, schema: object) {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats(ajv);
    const check = ajv.compile({ ...schema, components: document.components });
    return (value: unknown) =>
      check(value) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  }

  it('have paths for each content type, as its transports and options allow', async () => {
    const { paths } = await publicDocument();
    const methods = (path: string) => Object.keys(paths[path] ?? {}).toSorted();
    expect(methods('/api/v1/content/whole')).to.deep.equal(['get', 'post']);
    expect(methods('/api/v1/content/whole/{id}')).to.deep.equal(['delete', 'get', 'put']);
    expect(methods('/api/v1/content/whole/{id}/publish')).to.deep.equal(['put']);
    expect(methods('/api/v1/content/part/{id}/publish')).to.deep.equal([]);
    expect(methods('/api/v1/content/whole/{id}/undelete')).to.deep.equal(['put']);
    expect(methods('/api/v1/content/part/{id}/undelete')).to.deep.equal([]);
    expect([methods('/api/v1/content/posted'), methods('/api/v1/content/shown')]).to.deep.equal([['post'], ['get']]);
    expect(Object.keys(paths).filter((path) => path.startsWith('/api/v1/content/sealed'))).to.deep.equal([]);
  });

  it('describe the validation rules of fields', async () => {
    const { components } = await publicDocument();
    const { properties, required } = JSON.parse(JSON.stringify(components['schemas']?.['WholeCreate'])).properties.data;
    expect(required).to.deep.equal(['title', 'first_id']);
    expect(properties.title).to.include({ type: 'string', minLength: 2, maxLength: 80, pattern: '^[A-Z]' });
    expect(properties.kind).to.deep.include({ enum: ['a', 'b'], default: 'a' });
    expect(properties.a_number).to.deep.include({ type: ['number', 'null'], minimum: 0.5, maximum: 99.5 });
    expect(properties.a_integer.enum).to.deep.equal([1, 2, 3, null]);
    expect(properties.greedy.description).to.equal('Matches the RE2 pattern (?i)^z');
    expect(properties.until.description).to.equal('At least a_date');
    expect(properties.a_date.description).to.equal('At least 2020-01-01');
    expect(properties.tags).to.deep.include({ type: 'array', maxItems: 1000 });
  });

  it('describe the requests and responses of the service, with their headers', async function () {
    this.timeout(60_000);
    const document = await publicDocument();
    const tag = (await service.ownerContent('POST', '/api/v1/content/tag', { data: { label: 'T' } })).json<{
      id: string;
    }>();
    const data = {
      a_text: 'Text',
      a_rich_text: 'short',
      a_url: 'https://example.org/',
      a_email: 'a@example.org',
      a_slug: 'a-b',
      a_number: 1.5,
      a_integer: 2,
      a_decimal: '1.50',
      a_boolean: true,
      a_date: '2026-01-01',
      until: '2026-01-02',
      a_datetime: '2026-01-01T00:00:00Z',
      a_time: '12:30',
      a_uuid: tag.id,
      a_json: { deep: [1] },
      a_media: tag.id,
      title: 'Title',
      tags: [tag.id],
      first_id: tag.id,
    };
    const input = { data };
    expect(checker(document, { $ref: '#/components/schemas/WholeCreate' })(input)).to.deep.equal([]);
    const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
      ['post', ''],
      ['get', ''],
      ['get', '/cursor'],
      ['get', '/{id}'],
      ['put', '/{id}'],
      ['put', '/{id}/publish'],
      ['get', '/{id}?populate=*'],
      ['get', '?populate=*&count=true'],
    ];
    let id = '';
    for (const [method, rest] of calls) {
      const [path = ''] = rest.split('?');
      const described = operation(document, method, `/api/v1/content/whole${path}`);
      const reply = await service.ownerContent(
        method.toUpperCase(),
        `/api/v1/content/whole${rest.replace('{id}', id)}`,
        method === 'post' ? input : method === 'put' && path === '/{id}' ? { data: { a_text: null } } : undefined,
      );
      const response = described.responses[String(reply.status)] ?? expect.fail(`${method} ${rest}: ${reply.text}`);
      if (method === 'post') id = reply.json<{ id: string }>().id;
      expect(
        checker(document, response.content?.['application/json']?.schema ?? {})(reply.json()),
        `${method} ${rest}`,
      ).to.deep.equal([]);
      const undescribed = ['etag', 'x-commit-position', 'x-total-count', 'x-request-id', 'x-schema-revision'].filter(
        (name) =>
          name in reply.headers && !Object.keys(response.headers ?? {}).some((known) => known.toLowerCase() === name),
      );
      expect(undescribed, `${method} ${rest}`).to.deep.equal([]);
    }
    await service.ownerContent('POST', '/api/v1/content/part', { data: { owner_id: id } });
    const whole = await service.ownerContent('GET', `/api/v1/content/whole/${id}?populate=*&depth=2`);
    expect(checker(document, { $ref: '#/components/schemas/WholeEntry' })(whole.json())).to.deep.equal([]);
    expect(whole.json<{ data: { parts: unknown[]; one_part: unknown } }>().data.parts).to.have.length(1);
  });

  it('describe refusals with a common schema, which their examples match', async () => {
    const document = await publicDocument();
    const check = checker(document, { $ref: '#/components/schemas/Error' });
    const refused = await service.ownerContent('POST', '/api/v1/content/whole', { data: {} });
    expect([refused.status, check(refused.json())]).to.deep.equal([422, []]);
    for (const [code, example] of Object.entries(document.components['examples'] ?? {})) {
      if (code === 'payment_required' || code === 'cap_exceeded') continue;
      expect(check(JSON.parse(JSON.stringify(example)).value), code).to.deep.equal([]);
    }
    const { responses } = operation(document, 'put', '/api/v1/content/{schema}/{id}');
    expect(Object.keys(responses)).to.include.members([
      '200',
      '400',
      '401',
      '403',
      '404',
      '405',
      '409',
      '412',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
  });

  it('name the grants that allow a route to admin tokens', async () => {
    const { paths } = (await service.owner('GET', '/api/admin/openapi/admin.json')).json<{
      paths: Record<string, Record<string, { security: object[] }>>;
    }>();
    const granted = service.service().routes.filter(({ grants }) => grants !== undefined);
    expect(granted).to.not.be.empty;
    for (const { method, path, grants } of granted) {
      expect(paths[path]?.[method.toLowerCase()]?.security, path).to.deep.include.members(
        (grants ?? []).map((grant) => ({ adminToken: [grant] })),
      );
    }
    expect(JSON.stringify(paths['/api/admin/auth/me']?.['get']?.security)).not.to.contain('adminToken');
  });

  it('describe streams and the headers that resume one', async () => {
    const { parameters, responses } = operation(await publicDocument(), 'get', '/api/v1/content/{schema}/changes');
    expect(Object.keys(responses['200']?.content ?? {})).to.deep.equal(['application/json', 'text/event-stream']);
    expect(parameters.map(({ $ref }) => $ref)).to.include('#/components/parameters/Last-Event-ID');
  });

  it('show an API key with the scope the types and fields that it may read', async () => {
    const limited = await service.key({
      schemas: ['tag'],
      scopes: ['schemas:read', 'content:read'],
      roles: ['editor'],
    });
    const document = await publicDocument('/api/v1/openapi.json', limited);
    expect(Object.keys(document.paths).filter((path) => /^\/api\/v1\/content\/[a-z]/.test(path)))
      .to.deep.equal(Object.keys(document.paths).filter((path) => /^\/api\/v1\/content\/tag(\/|$)/.test(path)))
      .and.not.to.deep.equal([]);
    expect((await (await service.key({ scopes: ['content:read'] }))('GET', '/api/v1/openapi.json')).status).to.equal(
      403,
    );
    expect(
      (
        await service.owner('POST', '/api/admin/permissions', {
          role: 'reviewer',
          schema_name: '*',
          actions: ['read'],
          field_mask: ['a_text'],
        })
      ).status,
    ).to.equal(200);
    const masked = await publicDocument(
      '/api/v1/openapi.json',
      await service.key({ roles: ['reviewer'], scopes: ['*:read'] }),
    );
    expect(masked.components['schemas']?.['Whole'])
      .to.have.property('properties')
      .that.includes.keys('a_rich_text')
      .and.not.have.property('a_text');
  });

  it('are cached until a content type changes', async () => {
    const { headers } = await service.ownerContent('GET', '/api/v1/openapi.json');
    const again = () =>
      service.ownerContent('GET', '/api/v1/openapi.json', undefined, { 'if-none-match': headers['etag'] ?? '' });
    expect((await again()).status).to.equal(304);
    expect((await service.owner('POST', '/api/admin/schemas', { name: 'new_one', fields: [] })).status).to.equal(200);
    const changed = await again();
    expect([changed.status, changed.text.includes('/api/v1/content/new_one')]).to.deep.equal([200, true]);
  });

  it('describe the probes of the listener, with the reasons of a failing one', async () => {
    for (const path of ['/api/admin/openapi/public.json', '/api/admin/openapi/admin.json', '/api/admin/openapi.json']) {
      const document = (await service.owner('GET', path)).json<Document>();
      for (const probe of ['/healthz', '/readyz', '/startup']) {
        const { responses } = operation(document, 'get', probe);
        const schema = responses['503']?.content?.['application/json']?.schema ?? expect.fail(`${path} ${probe}`);
        const check = checker(document, schema);
        const failing = { error: 'starting', code: 'unavailable', status: 'unavailable', reasons: ['starting'] };
        expect(check(failing), `${path} ${probe}`).to.deep.equal([]);
        expect(check({ ...failing, reasons: [1] }), `${path} ${probe}`).to.have.length(1);
        expect(Object.keys(responses['503']?.headers ?? {})).to.include('Retry-After');
        expect(Object.keys(responses)).to.include('200');
      }
    }
  });

  it('reveal nothing about another tenant', async () => {
    await service.owner('POST', '/api/admin/tenants', { slug: 'other', name: 'Other' });
    const other = await service.owner('GET', '/api/admin/openapi/public.json', undefined, { 'x-tenant-id': 'other' });
    expect([other.status, other.text.includes('/api/v1/content/whole')]).to.deep.equal([200, false]);
  });
});
