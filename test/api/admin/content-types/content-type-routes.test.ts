import { expect } from 'chai';
import { contentTypeRoutes } from '../../../../api/admin/content-types/content-type-routes.ts';
import { contentTypeReadRoutes } from '../../../../api/content/content-type-read-routes.ts';
import { compileAccessRules } from '../../../../application/identity/compile-access-rules.ts';
import { DEFAULT_ACCESS_RULE } from '../../../../domain/identity/access-rule.ts';
import type { Principal } from '../../../../domain/identity/principal.ts';
import { createRateCounters } from '../../../../infrastructure/postgres/rate-counters.ts';
import { claimsInMemory } from '../../../support/claims-in-memory.ts';
import { useContent } from '../../../support/content.ts';
import { apiKey, useServedContent, userSession } from '../../../support/serve-content.ts';

const PRINCIPALS: Readonly<Record<string, Principal>> = {
  editor: userSession(['editor']),
  admin: userSession(['admin']),
  super: userSession(['super_admin']),
  foreign: userSession(['admin'], 'acme'),
  reader: apiKey(),
  narrow: apiKey({ keyId: 'k2', schemas: ['person'] }),
};

type Json = Record<string, unknown>;

describe('content types over HTTP', () => {
  const world = useContent({ claims: claimsInMemory(), store: 'memory' });
  const served = useServedContent({ content: world, routes, principals: PRINCIPALS });

  function routes() {
    return [
      ...contentTypeRoutes({
        ...world.contentTypes(),
        queries: world.contentTypeQueries(),
        rateCounters: createRateCounters({ database: world.database(), key: Buffer.alloc(32, 3) }),
      }),
      ...contentTypeReadRoutes({
        queries: world.contentTypeQueries(),
        accessRules: { decide: compileAccessRules([DEFAULT_ACCESS_RULE]) },
      }),
    ];
  }

  async function call(
    who: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown; headers: Headers }> {
    const key = PRINCIPALS[who]?.kind === 'api_key';
    const listener = path.startsWith('/api/v1') ? served().content : served().admin;
    const response = await fetch(`${listener.url}${path}`, {
      method,
      headers: {
        ...(who === '' ? {} : key ? { 'x-api-key': who } : { authorization: `Bearer ${who}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
  }
  const answered = async (...args: Parameters<typeof call>) => {
    const { status, body } = await call(...args);
    return [status, (body as Json | undefined)?.['error']];
  };

  const article = {
    name: 'article',
    display_name: 'Article',
    fields: [{ name: 'title', field_type: 'text', required: true }],
    with_draft_publish: true,
  };

  it('creates, lists, reads, saves, previews and deletes a type, and returns its history and stats', async () => {
    const created = await call('admin', 'POST', '/api/admin/schemas', article);
    expect(created.status).to.equal(200);
    expect(created.headers.get('x-commit-position')).to.match(/^\d{20}$/);
    const shown = {
      ...article,
      fields: [{ name: 'title', field_type: 'text', required: true, unique: false, indexed: false, localized: false }],
      with_created_at: false,
      with_updated_at: false,
      with_soft_delete: false,
    };
    expect(created.body).to.deep.equal(shown);
    expect((await call('editor', 'GET', '/api/admin/schemas')).body).to.deep.equal([shown]);
    expect((await call('editor', 'GET', '/api/admin/schemas/article')).body).to.deep.equal(shown);

    const changed = { ...article, name: 'ignored', fields: [{ name: 'body', field_type: 'rich_text' }] };
    const ddl = await call('admin', 'POST', '/api/admin/schemas/article/preview-ddl', changed);
    expect(ddl.body).to.deep.equal({
      statements: [
        {
          description: 'Add column body (text)',
          sql: 'alter table "rm_content"."article" add column if not exists "body" text',
          down_sql: 'alter table "rm_content"."article" drop column "body"',
        },
        {
          description: 'Drop column title',
          sql: 'alter table "rm_content"."article" drop column "title"',
          down_sql:
            'alter table "rm_content"."article" add column if not exists "title" text;\n-- cannot be undone: the values are deleted from the table and remain in the history',
          destructive: true,
        },
      ],
    });
    const unmarked = await call('admin', 'POST', '/api/admin/schemas/article/preview', changed);
    expect(
      (unmarked.body as { statements: Json[] }).statements.every((statement) => !('destructive' in statement)),
    ).to.equal(true);

    expect((await call('super', 'PUT', '/api/admin/schemas/article', changed)).status).to.equal(200);
    const history = (await call('super', 'GET', '/api/admin/schemas/article/history')).body as {
      statements: Json[];
      pending: number;
    };
    expect(history.pending).to.equal(1);
    expect(history.statements.map(({ state }) => state)).to.deep.equal(['pending', 'applied', 'applied', 'applied']);
    expect(Object.keys(history.statements[0]!)).to.have.members([
      'id',
      'description',
      'sql',
      'down_sql',
      'destructive',
      'state',
      'applied_at',
      'created_at',
      'actor',
    ]);
    expect((await call('editor', 'GET', '/api/admin/schemas/article/stats')).body).to.deep.equal({
      rows: 0,
      last_updated: null,
    });

    expect((await call('admin', 'DELETE', '/api/admin/schemas/article')).status).to.equal(204);
    expect((await call('admin', 'DELETE', '/api/admin/schemas/article')).status).to.equal(204);
    expect(await answered('editor', 'GET', '/api/admin/schemas/article')).to.deep.equal([404, 'schema not found']);
  });

  it('refuses callers without the role or the credential', async () => {
    expect((await call('', 'GET', '/api/admin/schemas')).status).to.equal(401);
    expect((await call('editor', 'POST', '/api/admin/schemas', article)).status).to.equal(403);
    expect((await call('admin', 'PUT', '/api/admin/schemas/article', article)).status).to.equal(403);
    expect((await call('admin', 'GET', '/api/admin/schemas/article/history')).status).to.equal(403);
    expect((await call('editor', 'POST', '/api/admin/schemas/article/preview', article)).status).to.equal(403);
    expect((await call('editor', 'DELETE', '/api/admin/schemas/article')).status).to.equal(403);
  });

  it('refuses invalid bodies and parameters with exact messages', async () => {
    await call('admin', 'POST', '/api/admin/schemas', { name: 'page' });
    const bad = { name: 'page', fields: [{ name: 'f', field_type: 'number', localized: true }] };
    const reason = 'field_type "number" cannot be localized (allowed: rich_text, text, url)';
    expect(await answered('admin', 'POST', '/api/admin/schemas', '{')).to.deep.equal([400, 'invalid JSON']);
    expect(await answered('admin', 'POST', '/api/admin/schemas', bad)).to.deep.equal([
      422,
      `invalid schema: ${reason}`,
    ]);
    expect(await answered('super', 'PUT', '/api/admin/schemas/page', bad)).to.deep.equal([400, reason]);
    expect(await answered('super', 'PUT', '/api/admin/schemas/page', { transports: { rest: 'no' } })).to.deep.equal([
      422,
      'invalid schema: transport "rest" must be one of rw, r, w, off',
    ]);
    expect(await answered('admin', 'POST', '/api/admin/schemas/page/preview', bad)).to.deep.equal([
      422,
      `invalid schema: ${reason}`,
    ]);
    expect(await answered('super', 'PUT', '/api/admin/schemas/ghost', bad)).to.deep.equal([404, 'schema not found']);
    expect(await answered('super', 'GET', '/api/admin/schemas/ghost/history')).to.deep.equal([404, 'schema not found']);
    expect(await answered('admin', 'DELETE', '/api/admin/schemas/page?content=maybe')).to.deep.equal([
      422,
      'content must be hard or soft',
    ]);
    for (const body of ['[]', 'null', '7', '"x"', '{"name":"page","fields":[null]}']) {
      const [status, message] = await answered('admin', 'POST', '/api/admin/schemas', body);
      expect([status, String(message).slice(0, 16)], body).to.deep.equal([422, 'invalid schema: ']);
    }
  });

  it("returns only types of the caller's tenant", async () => {
    await call('admin', 'POST', '/api/admin/schemas', { name: 'secret', fields: [{ name: 'f', field_type: 'text' }] });
    expect((await call('foreign', 'GET', '/api/admin/schemas')).body).to.deep.equal([]);
    expect((await call('foreign', 'GET', '/api/admin/schemas/secret')).status).to.equal(404);
    expect((await call('foreign', 'DELETE', '/api/admin/schemas/secret')).status).to.equal(204);
    expect((await call('admin', 'GET', '/api/admin/schemas/secret')).status).to.equal(200);
    const [status, message] = await answered('foreign', 'POST', '/api/admin/schemas', {
      name: 'secret',
      fields: [{ name: 'f', field_type: 'date' }],
    });
    expect([status, message]).to.deep.equal([
      409,
      'another schema shares this table and defines it differently: field "f" is text there and date here',
    ]);
  });

  it("lists types on the Content API according to their transports and the key's list", async () => {
    await call('admin', 'POST', '/api/admin/schemas', { name: 'person', fields: [] });
    await call('admin', 'POST', '/api/admin/schemas', { name: 'hidden', transports: { rest: 'off' } });
    const names = async (who: string) =>
      ((await call(who, 'GET', '/api/v1/schemas')).body as { name: string }[]).map(({ name }) => name);
    expect(await names('reader'))
      .to.include('person')
      .and.not.include('hidden');
    expect(await names('narrow')).to.deep.equal(['person']);
    expect((await call('reader', 'GET', '/api/v1/schemas/person')).status).to.equal(200);
    expect(await answered('reader', 'GET', '/api/v1/schemas/hidden')).to.deep.equal([404, 'schema not found']);
    expect(await answered('narrow', 'GET', '/api/v1/schemas/page')).to.deep.equal([
      403,
      'schema not allowed for this credential',
    ]);
  });
});
