import { expect } from 'chai';
import type { Column } from '../../../../domain/content/schema-operation.ts';
import type { Queryable } from '../../../../infrastructure/postgres/database.ts';
import { projectedStatement, renderOperation } from '../../../../projections/content/content-types/render-operation.ts';
import { createContentTypeTables } from '../../../../projections/content/content-types/tables.ts';
import { useDatabase } from '../../../support/database.ts';
import { SCHEMA_OPERATIONS, indexes, moment, tags, title, views } from '../../../support/schema-operations.ts';

const place = { schema: '"rm_content"', table: 'article' };
async function snapshot(db: Queryable) {
  const columns = await db.query(
    `select table_name, column_name, udt_name, is_nullable, column_default, datetime_precision from information_schema.columns
     where table_schema = 'rm_content' and table_name not in ('_content_types', '_statements') order by table_name, column_name`,
  );
  const indexed = await db.query(
    `select indexname, indexdef from pg_indexes where schemaname = 'rm_content' order by 1`,
  );
  const tables = [...new Set((columns as readonly { table_name: string }[]).map((column) => column.table_name))];
  const rows = await Promise.all(
    tables.map((table) =>
      db.query<{ json: object }>(`select to_jsonb(t) as json from rm_content.${table} t order by id`),
    ),
  );
  return { shape: { columns, indexed }, rows: tables.map((table, at) => [table, rows[at]]) };
}

describe('the undo of a statement', () => {
  const database = useDatabase();

  before(async () => {
    await database.db().transaction(async (tx) => {
      await tx.query('create schema rm_content');
      await createContentTypeTables(tx, { schema: '"rm_content"' });
    });
  });

  async function prepare(db: Queryable, on: 'full' | 'empty' | 'absent'): Promise<void> {
    await db.query('drop table if exists rm_content.article, rm_content.story');
    const spare: Column = { name: 'spare', type: 'text' };
    await db.query(
      renderOperation({ op: 'create_table', columns: [title, views, tags, spare] }, { ...place, table: 'story' }).sql,
    );
    if (on === 'absent') return;
    for (const operation of [
      { op: 'create_table', columns: [title, views, tags, spare] },
      ...indexes.map((wanted) => ({ op: 'create_index', index: wanted }) as const),
    ] as const) {
      await db.query(renderOperation(operation, place).sql);
    }
    if (on === 'empty') return;
    for (const [tenant, deletedAt] of [
      ['default', null],
      ['default', '2020-01-01T00:00:00Z'],
      ['other', null],
    ]) {
      await db.query(
        `insert into rm_content.article (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _deleted_at, _position, title, views, tags)
         values (gen_random_uuid(), $1, 1, 'draft', now(), now(), '{}', '{}', $2, '', $1, 7, array[gen_random_uuid()])`,
        [tenant, deletedAt],
      );
    }
  }

  for (const [name, { operation, on = 'full', loses = false }] of Object.entries(SCHEMA_OPERATIONS)) {
    it(`${name}: restores the table${loses ? ', except for deleted values' : ''}`, async () => {
      const db = database.db();
      await prepare(db, operation.op === 'rename_table' ? 'full' : on);
      if (operation.op === 'rename_table') await db.query('drop table rm_content.story');
      if (operation.op === 'drop_link')
        await db.query(`alter table rm_content.article add column list uuid[] not null default '{}'`);
      const before = await snapshot(db);
      const { sql, down_sql: down } = renderOperation(operation, place);
      await db.query(sql);
      if (on === 'full') expect(await snapshot(db)).not.to.deep.equal(before);
      await db.query(down);
      const after = await snapshot(db);
      expect(after.shape).to.deep.equal(before.shape);
      if (!loses) expect(after.rows).to.deep.equal(before.rows);
    });

    it(`${name}: has the same effect as the statement of the projector`, async () => {
      const db = database.db();
      const results = [];
      for (const statement of [renderOperation(operation, place).sql, projectedStatement(operation, place)]) {
        await prepare(db, operation.op === 'rename_table' ? 'full' : on);
        if (operation.op === 'rename_table') await db.query('drop table rm_content.story');
        if (operation.op === 'drop_link')
          await db.query(`alter table rm_content.article add column list uuid[] not null default '{}'`);
        await db.query(statement);
        results.push((await snapshot(db)).shape);
      }
      expect(results[0]).to.deep.equal(results[1]);
    });
  }

  it('restores the entries that are kept with a deleted type', async () => {
    const db = database.db();
    await prepare(db, 'full');
    await db.query(`update rm_content.article set _deleted_at = $1`, [moment]);
    const before = await snapshot(db);
    const { sql, down_sql: down } = renderOperation({ op: 'restore_rows', at: moment }, place);
    await db.query(sql);
    expect(await db.query('select 1 from rm_content.article where _deleted_at is null')).to.have.length(3);
    await db.query(down);
    expect(await snapshot(db)).to.deep.equal(before);
  });
});
