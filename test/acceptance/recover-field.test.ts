import { expect } from 'chai';
import { openCommands } from '../../infrastructure/composition/commands/open-commands.ts';
import { loadSettings } from '../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../infrastructure/configuration/read-settings.ts';
import type { Reply } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { testEnvironment, useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly data: Readonly<Record<string, unknown>> };
type Recovered = {
  readonly recovered: number;
  readonly skipped: readonly { readonly entry_id: string; readonly reason: string }[];
  readonly skipped_total: number;
};

describe('recovered values of a removed field that was added again', () => {
  const service = useService({ environment: licenseEnvironment() });
  const { owner, ownerContent } = service;
  const title = { name: 'title', field_type: 'text' };

  async function done(reply: Promise<Reply>): Promise<Reply> {
    const answer = await reply;
    expect(answer.status, answer.text).to.be.within(200, 204);
    return answer;
  }
  const save = (name: string, ...fields: readonly object[]) =>
    done(owner('POST', '/api/admin/schemas', { name, fields: [title, ...fields] }));
  const apply = (name: string) => done(owner('POST', `/api/admin/schemas/${name}/apply-pending`));
  const create = async (schema: string, data: object) =>
    (await done(ownerContent('POST', `/api/v1/content/${schema}`, { data }))).json<Entry>();
  const update = (schema: string, { id }: Entry, data: object) =>
    done(ownerContent('PUT', `/api/v1/content/${schema}/${id}`, { data }));
  const read = async (schema: string, { id }: Entry) =>
    (await done(ownerContent('GET', `/api/v1/content/${schema}/${id}`))).json<Entry>().data;
  const recover = async (schema: string, field: string) =>
    (await done(owner('POST', `/api/admin/schemas/${schema}/fields/${field}/recover`))).json<Recovered>();
  /** Removes the fields, applies the pending statements, and adds the given fields. */
  async function replace(schema: string, ...fields: readonly object[]): Promise<void> {
    await save(schema);
    await apply(schema);
    await save(schema, ...fields);
  }

  it('come from the history, and survive a rebuild', async () => {
    await save('note', { name: 'mood', field_type: 'text' });
    const [glad, sad, none] = [
      await create('note', { title: 'a', mood: 'glad' }),
      await create('note', { title: 'b', mood: 'sad' }),
      await create('note', { title: 'c' }),
    ];
    await update('note', sad, { mood: 'blue' });
    await replace('note', { name: 'mood', field_type: 'text' });
    expect((await read('note', glad))['mood']).to.equal(null);
    const before = (
      await service.database.db().query<{ n: number }>('select count(*)::int as n from eventstore.events')
    )[0]!.n;
    expect(await recover('note', 'mood')).to.deep.equal({ recovered: 2, skipped: [], skipped_total: 0 });
    for (const [entry, mood] of [
      [glad, 'glad'],
      [sad, 'blue'],
      [none, null],
    ] as const)
      expect((await read('note', entry))['mood']).to.equal(mood);
    const events = await service.database.db().query<{
      type: string;
      data: { fields: unknown };
      metadata: { actor: { kind: string }; $correlationId: string };
    }>('select type, data, metadata from eventstore.events order by position offset $1', [before]);
    expect(events.map(({ type, data, metadata }) => [type, data.fields, metadata.actor.kind])).to.have.deep.members([
      ['EntryFieldsChanged', { mood: 'glad' }, 'user'],
      ['EntryFieldsChanged', { mood: 'blue' }, 'user'],
    ]);
    expect(new Set(events.map(({ metadata }) => metadata.$correlationId)).size).to.equal(1);
    expect(await recover('note', 'mood')).to.deep.equal({ recovered: 0, skipped: [], skipped_total: 0 });
    const commands = await openCommands({
      settings: loadSettings([environmentLayer(testEnvironment(service.database.url(), '/nowhere'))]).settings,
      logger: recordingLogger(),
    });
    await commands.rebuild('content');
    await commands.close();
    expect((await read('note', glad))['mood']).to.equal('glad');
    expect((await read('note', sad))['mood']).to.equal('blue');
  });

  it('are converted to the current type; values that cannot be converted, are invalid or are taken are skipped with a reason', async () => {
    await save('part', { name: 'code', field_type: 'text' });
    const entries = [];
    for (const code of ['7', 'seven', '300', '7', '9']) entries.push(await create('part', { title: code, code }));
    const [, word, large, , taken] = entries;
    await replace('part', {
      name: 'code',
      field_type: 'integer',
      unique: true,
      validation: [{ rule: 'max', params: { value: 100 } }],
    });
    await update('part', taken!, { code: 1 });
    const { recovered, skipped, skipped_total: total } = await recover('part', 'code');
    expect([recovered, total]).to.deep.equal([1, 3]);
    const reasons = new Map(skipped.map(({ entry_id: id, reason }) => [id, reason]));
    expect(reasons.get(word!.id)).to.equal('the value does not convert to the current type');
    expect(reasons.get(large!.id)).to.equal('must be at most 100');
    expect([...reasons.values()]).to.include('unique value already held');
    expect((await read('part', taken!))['code'], 'an entry keeps its current value').to.equal(1);
  });

  it('include links of relations, except links to deleted entries', async () => {
    await save('author');
    const [ada, bob] = [await create('author', { title: 'Ada' }), await create('author', { title: 'Bob' })];
    const relations = [
      { name: 'writer', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'author' },
      { name: 'readers', field_type: 'relation', relation_type: 'many_to_many', relation_to: 'author' },
    ];
    await save('book', ...relations);
    const one = await create('book', { title: '1', writer: ada.id, readers: [bob.id, ada.id] });
    const two = await create('book', { title: '2', writer: bob.id });
    await save('book');
    await apply('book');
    await done(ownerContent('DELETE', `/api/v1/content/author/${bob.id}`));
    await save('book', ...relations);
    const writers = await recover('book', 'writer');
    expect([writers.recovered, writers.skipped]).to.deep.equal([
      1,
      [{ entry_id: two.id, reason: `related entry not found: ${bob.id}` }],
    ]);
    expect((await read('book', one))['writer_id']).to.equal(ada.id);
    expect((await recover('book', 'readers')).skipped).to.deep.equal([
      { entry_id: one.id, reason: `related entry not found: ${bob.id}` },
    ]);
  });

  it('belong to the field that had the name when it was removed, and exclude values that were removed before it', async () => {
    await save('task', { name: 'hint', field_type: 'text' }, { name: 'clue', field_type: 'text' });
    const [kept, emptied] = [
      await create('task', { title: 'a', hint: 'old hint', clue: 'old clue' }),
      await create('task', { title: 'b', hint: 'x' }),
    ];
    await update('task', emptied, { hint: null });
    await save('task', { name: 'hint', field_type: 'text' });
    await apply('task');
    await done(owner('PUT', '/api/admin/schemas/task/fields/hint/rename', { new_name: 'clue' }));
    // The first `clue` was removed. The current `clue` is the renamed `hint`, which keeps its values.
    expect(await recover('task', 'clue')).to.deep.equal({ recovered: 0, skipped: [], skipped_total: 0 });
    expect((await read('task', kept))['clue']).to.equal('old hint');
    await replace('task', { name: 'hint', field_type: 'text' }, { name: 'clue', field_type: 'text' });
    expect((await recover('task', 'hint')).recovered).to.equal(0);
    expect((await recover('task', 'clue')).recovered).to.equal(1);
    expect((await read('task', kept))['clue']).to.equal('old hint');
    expect((await read('task', emptied))['clue']).to.equal(null);
  });

  it('do not exist for a field whose removal was canceled, or for an unknown field', async () => {
    await save('page', { name: 'lead', field_type: 'text' });
    const page = await create('page', { title: 'a', lead: 'x' });
    await save('page');
    await save('page', { name: 'lead', field_type: 'text' });
    expect((await read('page', page))['lead']).to.equal('x');
    expect(await recover('page', 'lead')).to.deep.equal({ recovered: 0, skipped: [], skipped_total: 0 });
    const missing = async (path: string) => (await owner('POST', path)).json()['error'];
    expect(await missing('/api/admin/schemas/page/fields/none/recover')).to.equal('field not found in schema');
    expect(await missing('/api/admin/schemas/none/fields/lead/recover')).to.equal('schema not found');
  });
});
