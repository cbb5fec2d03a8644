import { expect } from 'chai';
import fc from 'fast-check';
import { v7 } from 'uuid';
import type { EntryEvent, FieldValues } from '../../../../domain/content/entry-events.ts';
import { type RecordedEvent, positionFrom } from '../../../../domain/event.ts';
import type { Database } from '../../../../infrastructure/postgres/database.ts';
import { contentProjection } from '../../../../projections/content/projection.ts';
import { type TestDefinition, contentTypeSaved } from '../../../support/content.ts';
import { useDatabase } from '../../../support/database.ts';
import { recordedEvent } from '../../../support/recorded-events.ts';

const TYPE = '0190b3a8-0000-7000-8000-000000000001';
const definition: TestDefinition = {
  name: 'article',
  with_draft_publish: true,
  fields: [
    { name: 'title', field_type: 'text', unique: true },
    { name: 'price', field_type: 'decimal' },
    { name: 'tags', field_type: 'json' },
    { name: 'at', field_type: 'datetime' },
    { name: 'author', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'person' },
    { name: 'links', field_type: 'relation', relation_type: 'many_to_many', relation_to: 'person' },
  ],
};

/** A log of one content type and its entries. */
function createLog(tenant = 'default') {
  const events: RecordedEvent[] = [];
  const revisions = new Map<string, number>();
  function push(stream: string, event: { readonly type: string; readonly data: RecordedEvent['data'] }): void {
    const revision = (revisions.get(stream) ?? -1) + 1;
    revisions.set(stream, revision);
    const occurred_at = new Date(Date.parse('2026-01-01T00:00:00.000Z') + events.length * 1001).toISOString();
    const base = recordedEvent({ id: v7(), stream, revision, position: positionFrom(events.length + 1) });
    events.push({ ...base, ...event, metadata: { ...base.metadata, tenant, occurred_at } });
  }
  push(`content_type-${tenant}.${TYPE}`, contentTypeSaved(definition, TYPE));
  const base = { type_id: TYPE, schema: 'article', type_revision: 0 };
  const entry = (id: string, event: EntryEvent): void => {
    push(`entry-${tenant}.${id}`, event);
  };
  return {
    events,
    create: (id: string, fields: FieldValues) => {
      entry(id, { type: 'EntryCreated', data: { ...base, fields, status: 'draft' } });
    },
    change: (id: string, fields: FieldValues) => {
      entry(id, { type: 'EntryFieldsChanged', data: { ...base, fields } });
    },
    publish: (id: string) => {
      entry(id, { type: 'EntryPublished', data: base });
    },
    unpublish: (id: string) => {
      entry(id, { type: 'EntryUnpublished', data: base });
    },
    remove: (id: string, soft = false) => {
      entry(id, { type: 'EntryDeleted', data: { ...base, ...(soft ? { soft } : {}) } });
    },
    push,
  };
}

async function projected(
  db: Database,
  events: readonly RecordedEvent[],
  batchSize: number,
): Promise<readonly Record<string, unknown>[]> {
  await db.query('drop schema if exists rm_content_next cascade');
  await db.query('create schema rm_content_next');
  const target = { schema: '"rm_content_next"' };
  await db.transaction((tx) => contentProjection.create(tx, target));
  for (let at = 0; at < events.length; at += batchSize) {
    const batch = events.slice(at, at + batchSize);
    await db.transaction((tx) => contentProjection.apply(tx, target, batch));
  }
  const [row] = await db.query<{ there: string | null }>(
    "select to_regclass('rm_content_next.article')::text as there",
  );
  return row?.there == null
    ? []
    : db.query('select t.*, t::text as canonical from rm_content_next.article t order by id');
}

const id = (number: number): string => `0190b3a8-0000-7000-8000-0000000001${String(number).padStart(2, '0')}`;

describe('the projector of entries', () => {
  const database = useDatabase();

  it('writes a row from the events of an entry, in one batch or one by one', async () => {
    const log = createLog();
    log.create(id(1), {
      title: 'One',
      price: '12345678901234567890.10',
      tags: { a: ['x'] },
      at: '2026-01-01T10:00:00.120Z',
    });
    log.publish(id(1));
    log.change(id(1), { title: 'Two', tags: null, author_id: id(9) });
    for (const size of [1, 2, 100]) {
      const [row] = await projected(database.db(), log.events, size);
      expect(row).to.deep.include({
        id: id(1),
        tenant_id: 'default',
        _version: 3,
        _status: 'published',
        title: 'Two',
        price: '12345678901234567890.10',
        tags: null,
        author_id: id(9),
        _deleted_at: null,
      });
      expect(row?._created_by).to.deep.equal({ kind: 'user', id: 'u1' });
      expect((row?._published_at as Date).toISOString()).to.equal('2026-01-01T00:00:02.002Z');
      expect((row?._updated_at as Date).toISOString()).to.equal('2026-01-01T00:00:03.003Z');
    }
  });

  it('keeps the ids of a many_to_many in order, also beside rows with longer, shorter and empty lists', async () => {
    const log = createLog();
    log.create(id(1), { title: 'a', links: [id(9), id(8), id(7)] });
    log.create(id(2), { title: 'b' });
    log.create(id(3), { title: 'c', links: [id(9)] });
    log.create(id(4), { title: 'd', links: [id(9)] });
    log.change(id(3), { links: [id(8), id(9)] });
    log.change(id(4), { links: [] });
    const links = (row: Record<string, unknown>) => row['links'];
    for (const size of [1, 3, 100])
      expect((await projected(database.db(), log.events, size)).map(links)).to.deep.equal([
        [id(9), id(8), id(7)],
        [],
        [id(8), id(9)],
        [],
      ]);
  });

  it('deletes the row of a deleted entry, and keeps the row of a soft-deleted one', async () => {
    const log = createLog();
    for (const number of [1, 2, 3]) log.create(id(number), { title: `t${number}` });
    log.remove(id(1));
    log.remove(id(2), true);
    for (const size of [1, 3, 100]) {
      const rows = await projected(database.db(), log.events, size);
      expect(rows.map((row) => [row['id'], row['_deleted_at'] === null])).to.deep.equal([
        [id(2), false],
        [id(3), true],
      ]);
    }
  });

  it('writes the same rows for any batch size', async function () {
    this.timeout(60_000);
    const step = fc.tuple(fc.nat(4), fc.constantFrom('change', 'publish', 'unpublish', 'remove', 'soft'), fc.nat(4));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 9 }), async (steps, size) => {
        const log = createLog();
        const alive = new Set<number>();
        const gone = new Set<number>();
        for (const [number, action, value] of steps) {
          if (gone.has(number)) continue;
          if (!alive.has(number)) {
            log.create(id(number), { title: `t${value}` });
            alive.add(number);
          } else if (action === 'change')
            log.change(id(number), {
              [['title', 'price', 'at', 'tags', 'links'][value]!]: [
                null,
                '1.5',
                '2026-01-01T00:00:00.000Z',
                [1],
                [id(number), id(9)],
              ][value]!,
            });
          else if (action === 'publish') log.publish(id(number));
          else if (action === 'unpublish') log.unpublish(id(number));
          else {
            log.remove(id(number), action === 'soft');
            gone.add(number);
          }
        }
        const canonical = async (batch: number) =>
          (await projected(database.db(), log.events, batch)).map((row) => row['canonical']);
        expect(await canonical(size)).to.deep.equal(await canonical(1000));
      }),
      { numRuns: 10 },
    );
  });

  it('swaps unique values within one batch', async () => {
    const log = createLog();
    log.create(id(1), { title: 'a' });
    log.create(id(2), { title: 'b' });
    await projected(database.db(), log.events, 100);
    log.change(id(1), { title: 'c' });
    log.change(id(2), { title: 'a' });
    log.change(id(1), { title: 'b' });
    expect((await projected(database.db(), log.events, 3)).map((row) => row['title'])).to.deep.equal(['b', 'a']);
  });

  it('stops at an event when the row lacks the event before it', async () => {
    const log = createLog();
    log.create(id(1), { title: 'a' });
    log.change(id(1), { title: 'b' });
    log.change(id(1), { title: 'c' });
    const torn = log.events.filter((_, index) => index !== 2);
    const error = await projected(database.db(), torn, 2).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(/not at the revision/);
  });

  it('skips an entry that was written while its type was being deleted', async () => {
    const log = createLog();
    log.push(`content_type-default.${TYPE}`, {
      type: 'ContentTypeDeleted',
      data: { type_id: TYPE, name: 'article', content: 'hard' },
    });
    log.create(id(1), { title: 'late' });
    expect(await projected(database.db(), log.events, 10)).to.deep.equal([]);
  });

  it('drops values that do not fit the current type, and keeps those of a field whose removal is queued', async () => {
    const log = createLog();
    const changed = {
      ...contentTypeSaved({ ...definition, fields: definition.fields.filter(({ name }) => name !== 'price') }, TYPE),
    };
    log.push(`content_type-default.${TYPE}`, {
      type: 'ContentTypeSaved',
      data: {
        ...changed.data,
        statements: [],
        retained: definition.fields
          .filter(({ name }) => name === 'price')
          .map((field) => ({ id: `id_${field.name}`, ...field })),
      },
    });
    log.create(id(1), { title: 'late', price: '1', at: 'never' });
    const [row] = await projected(database.db(), log.events, 10);
    expect(row).to.deep.include({ title: 'late', price: '1', at: null });
  });
});
