import { expect } from 'chai';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';

describe('tenants', () => {
  const service = useService();

  it('own each row of the read models, and do not see rows of other tenants', async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [{ name: 'title', field_type: 'text' }],
    });
    const key = await service.key({});
    const { id } = (await key('POST', '/api/v1/content/note', { data: { title: 'ours' } })).json<{ id: string }>();
    const db = service.database.db();
    const without = await db.query(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname like 'rm\\_%' and c.relkind = 'r'
       and not exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)`,
    );
    // Feature settings belong to the installation, regardless of the tenant in which the console saved them.
    expect(without.map(({ name }) => name)).to.deep.equal(['rm_platform.feature_configurations']);

    const foreign = '0190d3a0-0000-7000-8000-00000000000a';
    const columns = await db.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = 'rm_content.note'::regclass and attnum > 0 and not attisdropped`,
    );
    const list = (value: (name: string) => string) => columns.map(({ name }) => value(name)).join(', ');
    await db.execute(
      `insert into rm_content.note (${list(quoteIdentifier)}) select ${list((name) => (name === 'id' ? '$1' : name === 'tenant_id' ? `'acme'` : name === 'title' ? `'theirs'` : quoteIdentifier(name)))} from rm_content.note where id = $2`,
      [foreign, id],
    );
    expect((await key('GET', `/api/v1/content/note/${foreign}`)).status).to.equal(404);
    expect((await key('PUT', `/api/v1/content/note/${foreign}`, { data: { title: 'x' } })).status).to.equal(404);
    expect((await key('DELETE', `/api/v1/content/note/${foreign}`)).status).to.equal(404);
    const all = await key('GET', '/api/v1/content/note?count=true');
    expect([all.json<{ id: string }[]>().map((entry) => entry.id), all.headers['x-total-count']]).to.deep.equal([
      [id],
      '1',
    ]);
    for (const query of ['filters[title]=theirs', `filters[_id]=${foreign}`, 'filters[title][$startsWith]=the'])
      expect((await key('GET', `/api/v1/content/note?${query}`)).json()).to.deep.equal([]);
    expect(
      (await key('GET', '/api/v1/content/note/cursor'))
        .json<{ data: { id: string }[] }>()
        .data.map((entry) => entry.id),
    ).to.deep.equal([id]);
  });

  it('can be selected with X-Tenant-ID by super admins only', async () => {
    const unknown = await service.owner('GET', '/api/admin/schemas', undefined, { 'x-tenant-id': 'acme' });
    expect(statusAndError(unknown)).to.deep.equal([404, 'tenant not found']);
    const key = await service.key({});
    expect(
      (await key('GET', '/api/v1/content/note', undefined, { 'x-tenant-id': 'acme' })).status,
      'no effect for a key',
    ).to.equal(200);
  });
});
