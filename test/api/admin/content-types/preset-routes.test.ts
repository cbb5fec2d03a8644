import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readPresetDocument } from '../../../../application/content/read-preset-document.ts';
import { openOutbound } from '../../../../infrastructure/outbound/outbound.ts';
import { statusAndError } from '../../../support/http.ts';
import { licenseEnvironment } from '../../../support/license.ts';
import { useService } from '../../../support/service.ts';
import { startReceiver } from '../../../support/webhook-receiver.ts';

type Definition = { readonly name: string; readonly fields: readonly Record<string, unknown>[] } & Record<
  string,
  unknown
>;
type Listed = {
  readonly id: string;
  readonly source: string;
  readonly schemas: readonly Definition[];
  readonly updated_at: string | null;
  readonly source_url: string | null;
};

const PRESETS = '/api/admin/schemas/presets';
const FAQ = {
  id: 'faq',
  name: 'FAQ',
  description: 'Questions and answers',
  schemas: [
    { name: 'topic', fields: [{ name: 'title', field_type: 'text', required: true }] },
    {
      name: 'question',
      fields: [
        { name: 'topic', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'topic' },
        { name: 'about', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'question' },
        { name: 'open', field_type: 'boolean', default: false },
      ],
    },
  ],
};

describe('presets over HTTP', () => {
  const service = useService({ environment: licenseEnvironment({ capabilities: ['schema-pro'] }) });
  const { owner } = service;
  const save = (document: unknown) => owner('POST', PRESETS, { document });
  const listed = async () => (await owner('GET', PRESETS)).json<{ presets: readonly Listed[]; can_save: boolean }>();
  const types = async () =>
    (await owner('GET', '/api/admin/schemas')).json<readonly Definition[]>().map(({ name }) => name);

  it('lists the three built-in presets with their exact definitions', async () => {
    const { presets, can_save } = await listed();
    expect(can_save).to.equal(true);
    expect(presets.map(({ id, source, updated_at, source_url }) => [id, source, updated_at, source_url])).to.deep.equal(
      [
        ['comments', 'builtin', null, null],
        ['forms', 'builtin', null, null],
        ['seo', 'builtin', null, null],
      ],
    );
    const lines = presets.flatMap(({ schemas }) =>
      schemas.map(
        ({ name, with_created_at, with_updated_at, fields }) =>
          `${name}${with_created_at === true ? ' created' : ''}${with_updated_at === true ? ' updated' : ''}: ${fields
            .map(({ name: field, field_type, validation, ...more }) => {
              const values =
                validation === undefined
                  ? ''
                  : ` ${JSON.stringify((validation as { params: { values: unknown } }[])[0]?.params.values)}`;
              const flags = Object.entries(more)
                .filter(([key]) => !['relation_type'].includes(key))
                .map(([key, value]) => (value === true && key !== 'default' ? ` ${key}` : ` ${key}=${String(value)}`));
              return `${String(field)} ${String(field_type)}${flags.join('')}${values}`;
            })
            .join(', ')}`,
      ),
    );
    expect(lines).to.deep.equal([
      'comments created updated: target_schema text required indexed, target_id text required indexed, parent relation relation_to=comments, author_name text, author_email email, body text required, status text required indexed default=pending ["pending","approved","spam","rejected"]',
      'comment_votes created: comment relation required relation_to=comments, voter_key text required indexed, value number required',
      'forms created updated: name text required, slug text required unique, fields json required, notify_email email, active boolean default=true',
      'form_submissions created: form relation required relation_to=forms, data json required, status text required indexed default=new ["new","read","spam"]',
      'seo_metadata created updated: entry_schema text required indexed, entry_id text required indexed, title text, description text, canonical_url text, robots text default=index,follow, og_title text, og_description text, og_image text, twitter_card text default=summary_large_image, structured_data json',
    ]);
  });

  for (const [id, names] of [
    ['comments', ['comments', 'comment_votes']],
    ['forms', ['forms', 'form_submissions']],
    ['seo', ['seo_metadata']],
  ] as const) {
    it(`applies ${id}: entries of its types can be written, filtered and read under every field name`, async () => {
      const applied = await owner('POST', `${PRESETS}/${id}`);
      expect([applied.status, applied.json()], applied.text).to.deep.equal([201, { created: names }]);
      expect(await types()).to.include.members([...names]);
    });
  }

  it('creates types with defaults, enums and filters, also under reserved names', async () => {
    const comment = await service.ownerContent('POST', '/api/v1/content/comments', {
      data: { target_schema: 'note', target_id: 'n1', body: 'hi' },
    });
    expect(
      [comment.status, comment.json<{ data: Record<string, unknown> }>().data['status']],
      comment.text,
    ).to.deep.equal([201, 'pending']);
    expect(
      statusAndError(
        await service.ownerContent('POST', '/api/v1/content/comments', {
          data: { target_schema: 'note', target_id: 'n1', body: 'hi', status: 'lost' },
        }),
      ),
    ).to.deep.equal([422, 'validation failed']);
    for (const [status, count] of [
      ['pending', 1],
      ['approved', 0],
    ] as const) {
      const found = await service.ownerContent(
        'GET',
        `/api/v1/content/comments?filters[status]=${status}&sort=-status&fields=status`,
      );
      expect(found.json<readonly unknown[]>(), found.text).to.have.length(count);
    }
    const form = await service.ownerContent('POST', '/api/v1/content/forms', {
      data: { name: 'Contact', slug: 'contact', fields: [] },
    });
    expect(form.json<{ data: Record<string, unknown> }>().data, form.text).to.deep.include({
      active: true,
      slug: 'contact',
    });
    const sent = await service.ownerContent('POST', '/api/v1/content/form_submissions', {
      data: { form_id: form.json()['id'], data: { mail: 'a' } },
    });
    expect(sent.json<{ data: Record<string, unknown> }>().data, sent.text).to.deep.include({
      status: 'new',
      data: { mail: 'a' },
    });
    const rows = await service.database.db().query('select status from content.comments');
    expect(rows).to.deep.equal([{ status: 'pending' }]);
  });

  it('creates no type if one of them exists', async () => {
    await save({
      ...FAQ,
      id: 'mixed',
      schemas: [
        { name: 'brand_new', fields: [{ name: 'a', field_type: 'text' }] },
        { name: 'forms', fields: [{ name: 'a', field_type: 'text' }] },
      ],
    });
    expect(statusAndError(await owner('POST', `${PRESETS}/mixed`))).to.deep.equal([
      409,
      'a schema the preset creates already exists',
    ]);
    expect(statusAndError(await owner('POST', `${PRESETS}/comments`))).to.deep.equal([
      409,
      'a schema the preset creates already exists',
    ]);
    expect(await types()).to.not.include('brand_new');
  });

  it('keeps and names the types that were created before a failure', async () => {
    const other = (
      await service.database.db().query<{ n: number }>('select count(*)::int as n from rm_content._content_types')
    )[0]!.n;
    // Another tenant's table of that name stores the field differently.
    await service.database.db().query(`create table rm_content.blocked (id int)`);
    await save({
      ...FAQ,
      id: 'partly',
      schemas: [
        { name: 'first', fields: [{ name: 'a', field_type: 'text' }] },
        { name: 'blocked', fields: [{ name: 'a', field_type: 'text' }] },
        { name: 'third', fields: [{ name: 'a', field_type: 'text' }] },
      ],
    });
    const reply = await owner('POST', `${PRESETS}/partly`);
    expect([reply.status, reply.json()['error'], reply.json()['created']], reply.text).to.deep.equal([
      422,
      'schema migration failed',
      ['first'],
    ]);
    expect(await types())
      .to.include('first')
      .and.not.include.members(['third']);
    expect(
      (await service.database.db().query<{ n: number }>('select count(*)::int as n from rm_content._content_types'))[0]!
        .n,
    ).to.equal(other + 1);
    await service.database.db().query('drop table rm_content.blocked');
  });

  it('saves a document as an object and as YAML, replaces it by id, applies and deletes it; created types are kept', async () => {
    const saved = await save(FAQ);
    expect(saved.status, saved.text).to.equal(201);
    expect(saved.json()).to.deep.include({ ...FAQ, source: 'saved', source_url: null });
    expect(saved.json<Listed>().updated_at).to.match(/^\d{4}-.*Z$/);
    const yaml =
      'id: faq\nname: Questions\nschemas:\n  - name: topic # one\n    fields: [{name: title, field_type: text}]\n';
    expect((await save(yaml)).json()).to.deep.include({
      name: 'Questions',
      description: '',
      schemas: [{ name: 'topic', fields: [{ name: 'title', field_type: 'text' }] }],
    });
    await save(FAQ);
    const { presets } = await listed();
    expect(presets.filter(({ id }) => id === 'faq')).to.have.length(1);
    expect((await save(presets.find(({ id }) => id === 'faq'))).status).to.equal(201);
    const applied = await owner('POST', `${PRESETS}/faq`);
    expect(applied.json(), applied.text).to.deep.equal({ created: ['topic', 'question'] });
    expect(
      (await owner('GET', '/api/admin/schemas/question'))
        .json<Definition>()
        .fields.map(({ name, default: preset }) => [name, preset]),
    ).to.deep.equal([
      ['topic', undefined],
      ['about', undefined],
      ['open', false],
    ]);
    expect((await owner('DELETE', `${PRESETS}/faq`)).status).to.equal(204);
    expect(statusAndError(await owner('DELETE', `${PRESETS}/faq`))).to.deep.equal([404, 'preset not found']);
    expect(statusAndError(await owner('POST', `${PRESETS}/faq`))).to.deep.equal([404, 'preset not found']);
    expect(await types()).to.include.members(['topic', 'question']);
    expect((await save(FAQ)).status).to.equal(201);
  });

  it('refuses neither or both sources, built-in and unknown ids with exact messages', async () => {
    const post = (body: unknown) => owner('POST', PRESETS, body);
    expect(statusAndError(await post({}))).to.deep.equal([422, 'a url or a document is required']);
    expect(statusAndError(await post([]))).to.deep.equal([422, 'a url or a document is required']);
    expect(statusAndError(await post({ url: '', document: null }))).to.deep.equal([
      422,
      'a url or a document is required',
    ]);
    expect(statusAndError(await post({ url: 'https://example.org/a', document: FAQ }))).to.deep.equal([
      422,
      'send a url or a document, not both',
    ]);
    for (const url of ['ftp://example.org/a', 'file:///etc/passwd', 'nothing', 7, 'https://'])
      expect(statusAndError(await post({ url }))).to.deep.equal([422, 'the URL must be http or https']);
    expect(statusAndError(await owner('POST', PRESETS, '{', { 'content-type': 'application/json' }))).to.deep.equal([
      400,
      'invalid JSON',
    ]);
    expect(statusAndError(await save({ ...FAQ, id: 'seo' }))).to.deep.equal([
      409,
      'a built-in preset already uses that id',
    ]);
    expect(statusAndError(await owner('DELETE', `${PRESETS}/seo`))).to.deep.equal([
      409,
      'a built-in preset cannot be deleted',
    ]);
    expect(statusAndError(await owner('POST', `${PRESETS}/none`))).to.deep.equal([404, 'preset not found']);
  });

  const field = { name: 'a', field_type: 'text' };
  const WRONG: readonly (readonly [unknown, string])[] = [
    [[FAQ], 'the document must be an object'],
    ['just text', 'the document must be an object'],
    [
      'id: [',
      'the document is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 6',
    ],
    ['a: &a [1]\nb: *a', 'the document is not valid YAML: aliases are not supported'],
    [{ ...FAQ, extra: 1 }, 'unknown field "extra"'],
    [{ ...FAQ, id: 'Not A Slug' }, 'id must be a lower-case slug'],
    [{ ...FAQ, id: undefined }, 'id is required'],
    [{ ...FAQ, name: '' }, 'name is required'],
    [{ ...FAQ, description: 7 }, 'description must be a string of at most 2000 characters'],
    [{ ...FAQ, schemas: [] }, 'schemas must contain 1 to 50 content types'],
    [{ ...FAQ, schemas: ['x'] }, 'schemas[0] must be a content type definition with a name'],
    [{ ...FAQ, schemas: [{ name: 'a', fields: [] }] }, 'schema "a" must have at least one field'],
    [
      {
        ...FAQ,
        schemas: [
          { name: 'a', fields: [field] },
          { name: 'a', fields: [field] },
        ],
      },
      'schema "a" occurs twice',
    ],
    [
      { ...FAQ, schemas: FAQ.schemas.toReversed() },
      'schema "question": a relation must point at its own content type or one listed before it, "topic" is listed after it',
    ],
    [
      { ...FAQ, schemas: FAQ.schemas.slice(1) },
      'schema "question": a relation must point at its own content type or one listed before it, "topic" is not in the preset',
    ],
    [{ ...FAQ, description: 'x'.repeat(1_048_576) }, 'the document must not exceed 1 MiB'],
    [`#${' '.repeat(1_048_576)}`, 'the document must not exceed 1 MiB'],
  ];
  for (const [document, message] of WRONG) {
    it(`refuses a document with the reason: ${message.slice(0, 60)}`, async () => {
      expect(statusAndError(await save(document))).to.deep.equal([422, message]);
    });
  }

  it('refuses invalid definitions, naming each and the reason', async () => {
    const reply = await save({ ...FAQ, schemas: [{ name: 'a', fields: [{ name: 'x', field_type: 'money' }] }] });
    expect([reply.status, reply.json()['error'], reply.json()['fields']]).to.deep.equal([
      422,
      'invalid schema in preset',
      [{ field: 'a', message: 'field "x": unknown field_type "money"' }],
    ]);
  });

  it('fetches nothing from private addresses, even if webhooks may', async () => {
    const receiver = await startReceiver({ answer: (_request, response) => response.end(JSON.stringify(FAQ)) });
    for (const url of [
      receiver.url,
      `http://localhost:${receiver.port}/`,
      'http://169.254.169.254/latest',
      'http://[::1]/',
      'http://10.0.0.1/',
    ]) {
      expect(statusAndError(await owner('POST', PRESETS, { url })), url).to.deep.equal([
        502,
        'the URL did not answer with a preset document',
      ]);
    }
    expect(receiver.requests).to.have.length(0);
    await receiver.close();
  });
});

describe('preset documents behind a URL', () => {
  const outbound = openOutbound({ allowedPrivateNetworks: ['127.0.0.1/32'] });
  const signal = new AbortController().signal;
  let respond: (path: string) => {
    readonly status?: number;
    readonly body?: string;
    readonly location?: string;
  } = () => ({});
  const server = createServer((request, response) => {
    const { status = 200, body = '', location } = respond(request.url ?? '');
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
  let base = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await outbound.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const refused = async (answer: ReturnType<typeof respond>, path = '/preset') => {
    respond = (asked) => (asked === '/preset' ? answer : { body: JSON.stringify(FAQ) });
    try {
      return (await readPresetDocument({ body: { url: `${base}${path}` }, signal }, { outbound })).preset.id;
    } catch (error) {
      return String(error instanceof Error ? error.message : error);
    }
  };
  const NONE = 'the URL did not answer with a preset document';

  it('are read as JSON and as YAML, over redirects to allowed addresses', async () => {
    expect(await refused({ body: JSON.stringify(FAQ) })).to.equal('faq');
    expect(
      await refused({ body: 'id: faq\nname: F\nschemas: [{name: topic, fields: [{name: a, field_type: text}]}]' }),
    ).to.equal('faq');
    expect(await refused({ status: 302, location: `${base}/elsewhere` })).to.equal('faq');
  });

  it('are refused for a forbidden redirect, an error status, a body that is too long or not a document', async () => {
    expect(await refused({ status: 302, location: 'http://127.0.0.2:1/' })).to.equal(NONE);
    expect(await refused({ status: 302, location: 'http://169.254.169.254/' })).to.equal(NONE);
    expect(await refused({ status: 302, location: 'file:///etc/passwd' })).to.equal(NONE);
    expect(await refused({ status: 404, body: JSON.stringify(FAQ) })).to.equal(NONE);
    expect(await refused({ body: `${JSON.stringify(FAQ)}${' '.repeat(1_048_576)}` })).to.equal(NONE);
    expect(await refused({ body: '<html>' })).to.equal(NONE);
    expect(await refused({ body: '{' })).to.equal(NONE);
  });

  it('are refused with the reason if they break a rule', async () => {
    expect(await refused({ body: JSON.stringify({ ...FAQ, schemas: [] }) })).to.equal(
      'schemas must contain 1 to 50 content types',
    );
  });

  it('are not fetched once the request has been aborted', async () => {
    respond = () => ({ body: JSON.stringify(FAQ) });
    const ended = AbortSignal.abort();
    const error = await readPresetDocument({ body: { url: `${base}/preset` }, signal: ended }, { outbound }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(Error);
  });
});

describe('presets and the canvas without schema-pro', () => {
  const service = useService();
  const { owner } = service;

  it('can be listed, applied and deleted, but not saved', async () => {
    const { can_save, presets } = (await owner('GET', PRESETS)).json<{
      presets: readonly Listed[];
      can_save: boolean;
    }>();
    expect([can_save, presets.length]).to.deep.equal([false, 3]);
    const refused = await owner('POST', PRESETS, 'not even JSON');
    expect([refused.status, refused.json()]).to.deep.equal([
      402,
      {
        error: 'payment_required',
        plugin: 'schema',
        feature: 'feature:schema-pro',
        upgrade_url: 'https://palimpsest.example/upgrade',
      },
    ]);
    expect((await owner('POST', `${PRESETS}/seo`)).status).to.equal(201);
    expect(statusAndError(await owner('DELETE', `${PRESETS}/mine`))).to.deep.equal([404, 'preset not found']);
  });

  it('return the layout as not licensed, and refuse to save one', async () => {
    expect((await owner('GET', '/api/admin/schemas/canvas-layout')).json()).to.deep.equal({
      positions: {},
      licensed: false,
    });
    const refused = await owner('PUT', '/api/admin/schemas/canvas-layout', { positions: {} });
    expect([refused.status, refused.json()]).to.deep.equal([
      402,
      {
        error: 'payment_required',
        plugin: 'schema',
        feature: 'feature:schema-pro',
        upgrade_url: 'https://palimpsest.example/upgrade',
      },
    ]);
  });
});
