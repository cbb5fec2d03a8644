import { expect } from 'chai';
import { v7 } from 'uuid';
import { changeEntry } from '../../../application/content/change-entry.ts';
import { createEntries } from '../../../application/content/create-entries.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { deleteEntry } from '../../../application/content/delete-entry.ts';
import type { EntryDependencies } from '../../../application/content/run-entry-command.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { refusal } from '../../../domain/errors.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { createEntryQueries } from '../../../projections/content/entries/entry-queries.ts';
import { testContext, useContent } from '../../support/content.ts';

const relation = (name: string, relation_to: string, more: object = {}) =>
  ({ name, field_type: 'relation', relation_type: 'belongs_to', relation_to, ...more }) as const;

describe('deleting an entry that others refer to', () => {
  const content = useContent();
  let tag: ContentType;
  let article: ContentType;
  let page: ContentType;
  let acmeArticle: ContentType;

  before(async () => {
    const name = { name: 'name', field_type: 'text' } as const;
    tag = await content.save({ name: 'tag', fields: [name, relation('parent', 'tag')] });
    article = await content.save({
      name: 'article',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [
        name,
        relation('main', 'tag', { unique: true }),
        relation('tags', 'tag', { relation_type: 'many_to_many' }),
      ],
    });
    page = await content.save({
      name: 'page',
      fields: [
        relation('tag', 'tag', { required: true }),
        relation('all', 'tag', { relation_type: 'many_to_many', required: true }),
      ],
    });
    acmeArticle = await content.save(
      { name: 'article', fields: [name, relation('tags', 'tag', { relation_type: 'many_to_many' })] },
      'acme',
    );
    await content.save({ name: 'tag', fields: [name] }, 'acme');
  });

  const context = testContext();
  async function create(type: ContentType, data: JsonObject = {}): Promise<string> {
    const { entry } = await createEntry({ type, data }, context, content.dependencies());
    await content.project();
    return entry.id;
  }
  const remove = async (type: ContentType, id: string, dependencies: EntryDependencies = content.dependencies()) => {
    const outcome = await deleteEntry(
      { type, id },
      testContext({ correlationId: 'c-delete', causationId: 'request' }),
      dependencies,
    );
    await content.project();
    return outcome;
  };
  const failed = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );
  const fieldsOf = async (type: ContentType, id: string) =>
    (await content.dependencies().entryRows.load(type, id))?.fields;
  const eventsOf = async (id: string): Promise<readonly RecordedEvent[]> =>
    (await content.log()).filter(({ stream }) => stream.endsWith(id));

  it('removes optional references by events of the referring entries, drafts included, before the deletion and caused by it', async () => {
    const [gone, stays] = [await create(tag), await create(tag)];
    const both = await create(article, { name: 'both', main: gone, tags: [stays, gone] });
    const child = await create(tag, { parent: gone });
    const { position } = await remove(tag, gone);
    expect(await fieldsOf(article, both)).to.deep.equal({ name: 'both', main_id: null, tags: [stays] });
    expect(await fieldsOf(tag, child)).to.deep.include({ parent_id: null });
    const [, changed] = await eventsOf(both);
    const deletion = (await eventsOf(gone)).at(-1);
    expect(changed).to.deep.include({ type: 'EntryFieldsChanged' });
    expect(changed?.data).to.deep.include({ fields: { main_id: null, tags: [stays] } });
    expect(changed?.metadata).to.include({ $correlationId: 'c-delete', $causationId: deletion?.id });
    expect(deletion?.metadata).to.include({ $correlationId: 'c-delete', $causationId: 'request' });
    expect(deletion?.position).to.equal(position);
    expect((changed?.position ?? '') < (position ?? '')).to.equal(true);
  });

  it('is refused, without any change, when a required relation would lose its value', async () => {
    const [one, two] = [await create(tag), await create(tag)];
    const made = await create(page, { tag: one, all: [one, two] });
    const optional = await create(article, { tags: [one, two] });
    expect(await failed(remove(tag, one))).to.include({
      code: 'entry_referenced',
      status: 409,
      message: 'entry is referenced by page.tag',
    });
    await changeEntry({ type: page, id: made, data: { all: [two] } }, context, content.dependencies());
    await content.project();
    expect(await failed(remove(tag, two))).to.include({ message: 'entry is referenced by page.all' });
    expect(await fieldsOf(article, optional)).to.deep.include({ tags: [one, two] });
    await changeEntry({ type: page, id: made, data: { all: [one, two] } }, context, content.dependencies());
    await content.project();
    await remove(tag, two);
    expect(await fieldsOf(page, made)).to.deep.include({ all: [one] });
    await remove(page, made);
    await remove(tag, one);
    expect(await fieldsOf(article, optional)).to.deep.include({ tags: [] });
  });

  it('is not refused because of a stale row that requires the entry', async () => {
    const [one, two] = [await create(tag), await create(tag)];
    const made = await create(page, { tag: one, all: [two] });
    await changeEntry({ type: page, id: made, data: { tag: two } }, context, content.dependencies());
    await deleteEntry({ type: tag, id: one }, context, content.dependencies());
    await content.project();
    expect(await fieldsOf(page, made)).to.deep.equal({ tag_id: two, all: [two] });
    expect(await fieldsOf(tag, one)).to.equal(undefined);
  });

  it('is not refused for an entry that refers to itself, is deleted or belongs to another tenant', async () => {
    const own = await create(tag);
    await changeEntry({ type: tag, id: own, data: { parent: own } }, context, content.dependencies());
    await content.project();
    const soft = await create(article, { tags: [own] });
    await remove(article, soft);
    // A relation to another tenant's entry cannot be written; the test puts the id into the column.
    const theirs = (
      await createEntry({ type: acmeArticle, data: {} }, testContext({ tenant: 'acme' }), content.dependencies())
    ).entry.id;
    await content.project();
    await content.database().query('update rm_content.article set tags = array[$1::uuid] where id = $2', [own, theirs]);
    await remove(tag, own);
    expect((await eventsOf(own)).at(-1)?.type).to.equal('EntryDeleted');
    expect(await eventsOf(soft)).to.have.length(2);
    expect(await eventsOf(theirs)).to.have.length(1);
  });

  it('releases the value of a unique relation', async () => {
    const [one, two] = [await create(tag), await create(tag)];
    const first = await create(article, { main: one });
    expect(await failed(create(article, { main: one }))).to.include({ code: 'unique_value_held' });
    await remove(tag, one);
    await changeEntry({ type: article, id: first, data: { main: two } }, context, content.dependencies());
    expect(
      await content
        .database()
        .query('select state, unsettled_since from operational.claims where owner = $1', [`entry-default.${first}`]),
    ).to.deep.equal([{ state: 'confirmed', unsettled_since: null }]);
  });

  it('decides again when a referring entry changes in the meantime', async () => {
    const [gone, stays] = [await create(tag), await create(tag)];
    const made = await create(article, { tags: [gone] });
    let meddled = false;
    const dependencies = content.dependencies();
    const eventStore = dependencies.eventStore;
    const meddling: EntryDependencies = {
      ...dependencies,
      eventStore: {
        ...eventStore,
        appendMany: async (writes) => {
          if (!meddled) {
            meddled = true;
            await changeEntry({ type: article, id: made, data: { tags: [stays, gone] } }, context, dependencies);
          }
          return eventStore.appendMany?.(writes) ?? [];
        },
      },
    };
    await remove(tag, gone, meddling);
    expect(meddled).to.equal(true);
    expect(await fieldsOf(article, made)).to.deep.include({ tags: [stays] });
  });

  describe('on a store that appends to one stream at a time', () => {
    function oneByOne(onAppend: (stream: string) => void = () => undefined): EntryDependencies {
      const eventStore = content.eventStore();
      return {
        ...content.dependencies(),
        eventStore: {
          ...eventStore,
          appendMany: () => Promise.reject(new Error('not here')),
          capabilities: { ...eventStore.capabilities, atomicMultiStream: false, guards: false },
          append: (stream, events, options) => {
            onAppend(stream);
            return eventStore.append(stream, events, options);
          },
        },
      };
    }

    it('removes the references first, then the entry', async () => {
      const gone = await create(tag);
      const made = [await create(article, { tags: [gone] }), await create(article, { main: gone })];
      const appended: string[] = [];
      await remove(
        tag,
        gone,
        oneByOne((stream) => appended.push(stream)),
      );
      expect(appended).to.deep.equal([...made, gone].map((id) => `entry-default.${id}`));
    });

    it('keeps the entry after a failure in the middle, and completes the deletion at the next attempt', async () => {
      const gone = await create(tag);
      const made = [await create(article, { tags: [gone] }), await create(article, { tags: [gone] })];
      const failing = oneByOne((stream) => {
        if (stream.endsWith(made[1] ?? '')) throw refusal('too_large');
      });
      expect(await failed(remove(tag, gone, failing))).to.include({ code: 'too_large' });
      await content.project();
      expect((await eventsOf(gone)).at(-1)?.type).to.equal('EntryCreated');
      await remove(tag, gone, oneByOne());
      for (const id of made) expect(await fieldsOf(article, id)).to.deep.include({ tags: [] });
      expect(await fieldsOf(tag, gone)).to.equal(undefined);
    });

    it('removes the reference of an entry that changes in the meantime', async () => {
      const [gone, stays] = [await create(tag), await create(tag)];
      const made = await create(article, { tags: [gone] });
      await changeEntry({ type: article, id: made, data: { tags: [gone, stays] } }, context, content.dependencies());
      await remove(tag, gone, oneByOne());
      expect(await fieldsOf(article, made)).to.deep.include({ tags: [stays] });
    });
  });

  it('removes more than a thousand references, the last ones together with the deletion', async function () {
    this.timeout(30_000);
    const gone = await create(tag);
    const items = Array.from({ length: 1203 }, () => ({ tags: [gone] }));
    const made: string[] = [];
    for (let at = 0; at < items.length; at += 500)
      made.push(
        ...(
          await createEntries({ type: article, items: items.slice(at, at + 500) }, context, content.dependencies())
        ).entries.map(({ id }) => id),
      );
    await content.project();
    await remove(tag, gone);
    const rows = await content
      .database()
      .query<{ id: string }>('select id::text as id from rm_content.article where tags @> array[$1::uuid]', [gone]);
    expect(rows).to.deep.equal([]);
    expect(made).to.have.length(1203);
    expect(
      (await content.log()).filter(
        ({ type, metadata }) => type === 'EntryFieldsChanged' && metadata.$correlationId === 'c-delete',
      ).length,
    ).to.be.greaterThan(1202);
  });

  it('finds the referring entries by indexes', async () => {
    const db = content.database();
    await db.query(`insert into rm_content.article (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, main_id, tags)
      select gen_random_uuid(), 'default', 1, 'published', now(), now(), '{}', '{}', '1', gen_random_uuid(), array[gen_random_uuid(), gen_random_uuid()] from generate_series(1, 10000)`);
    await db.query(
      'create index on rm_content.article (tenant_id, main_id, id); create index on rm_content.article using gin (tags); analyze rm_content.article',
    );
    const asked: { readonly text: string; readonly values: readonly unknown[] }[] = [];
    const recorded: Database = {
      ...db,
      query: (text, values = [], name) => (asked.push({ text, values }), db.query(text, values, name)),
    };
    for await (const chunk of createEntryQueries({
      database: recorded,
      past: content.dependencies().past,
    }).reads.referrers(tag, v7()))
      expect(chunk).to.have.length(0);
    const { text, values } = asked.find((statement) => statement.text.includes('"rm_content"."article"')) ?? {
      text: '',
      values: [],
    };
    const plan = await db.query<Record<'QUERY PLAN', string>>(`explain ${text}`, values);
    expect(plan.map((row) => row['QUERY PLAN']).join('\n'))
      .to.match(/BitmapOr/)
      .and.not.match(/Seq Scan/);
  });
});
