import { expect } from 'chai';
import { v7 } from 'uuid';
import { type Reply, resultOf, statusAndError } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

type Obstacle = {
  field?: string;
  reason: string;
  message: string;
  version?: number;
  actor?: { kind: string; id: string };
  at?: string;
};
type Undone = {
  entry_id: string;
  schema: string;
  action: string;
  fields: { field: string; from: unknown; to: unknown }[];
  in_the_way: Obstacle[];
};
type Report = {
  applied: boolean;
  correlation_id: string | null;
  entries: Undone[];
  truncated: boolean;
  not_undoable: { kind: string; id: string; type: string }[];
  totals: Record<string, number>;
};
type Entry = { id: string; version: number; status: string; data: Record<string, unknown> };

describe('undo', () => {
  const service = useService();
  const PATH = '/api/v1/content';

  before(async () => {
    const save = async (definition: object) => resultOf(await service.owner('POST', '/api/admin/schemas', definition));
    await save({ name: 'author', fields: [{ name: 'name', field_type: 'text', required: true }] });
    await save({
      name: 'article',
      with_draft_publish: true,
      fields: [
        { name: 'title', field_type: 'text', required: true },
        { name: 'body', field_type: 'text' },
        { name: 'code', field_type: 'slug', unique: true },
        { name: 'author', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'author' },
      ],
    });
    await save({ name: 'kept', with_soft_delete: true, fields: [{ name: 'text', field_type: 'text' }] });
  });

  /** Calls with a common correlation id, so that their events are one batch. */
  const batch = () => {
    const id = v7();
    return {
      id,
      call: (method: string, path: string, body?: unknown): Promise<Reply> =>
        service.ownerContent(method, PATH + path, body, { 'x-correlation-id': id }),
    };
  };
  const other = (method: string, path: string, body?: unknown) => service.ownerContent(method, PATH + path, body);
  const made = async (reply: Promise<Reply>): Promise<Entry> => {
    const answer = await reply;
    expect(answer.status, answer.text).to.be.oneOf([200, 201]);
    return answer.json<Entry>();
  };
  const read = async (path: string): Promise<Entry | undefined> => {
    const answer = await other('GET', path);
    return answer.status === 404 ? undefined : answer.json<Entry>();
  };
  const undo = async (body: object): Promise<Report> => {
    return resultOf<Report>(await service.owner('POST', '/api/admin/undo', body));
  };
  const one = ({ entries }: Report): Undone => {
    expect(entries).to.have.length(1);
    return entries[0]!;
  };

  it('requires a signed-in session of a super admin', async () => {
    const editor = { email: 'undo-admin@palimpsest.test', password: 'Correct-Horse-8-battery' };
    await service.owner('POST', '/api/admin/users', { ...editor, roles: ['admin'] });
    const { token } = (await service.admin('POST', '/api/admin/auth/login', editor)).json<{ token: string }>();
    expect(
      (await service.admin('POST', '/api/admin/undo', { correlation_id: 'x' }, { authorization: `Bearer ${token}` }))
        .status,
    ).to.equal(403);
  });

  it('requires exactly one batch', async () => {
    const times = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
    for (const body of [
      {},
      { apply: true },
      { correlation_id: 'a', import_id: 'b' },
      { correlation_id: 'a', ...times },
      { api_key_id: 'k' },
      { api_key_id: 'k', from: times.from },
      { api_key_id: 'k', from: 'x', to: times.to },
      { api_key_id: 'k', from: times.to, to: times.from },
      { correlation_id: 'a', apply: 'yes' },
      { correlation_id: 'a', more: 1 },
      { correlation_id: '' },
    ])
      expect((await service.owner('POST', '/api/admin/undo', body)).status, JSON.stringify(body)).to.equal(422);
    const nothing = await service.owner('POST', '/api/admin/undo', { correlation_id: v7() });
    expect(statusAndError(nothing)).to.deep.equal([404, 'no events match']);
  });

  it('reports what would change in a dry run, then reverts fields, and undoes the undo', async () => {
    const entry = await made(other('POST', '/article', { data: { title: 'a', body: 'x', code: 'undo-1' } }));
    const path = `/article/${entry.id}`;
    const { id, call } = batch();
    await made(call('PUT', path, { data: { title: 'b', code: 'undo-2' } }));
    await made(call('PUT', path, { data: { title: 'c' } }));
    const dry = await undo({ correlation_id: id });
    expect(dry).to.deep.include({
      applied: false,
      correlation_id: null,
      truncated: false,
      not_undoable: [],
      totals: { events: 2, entries: 1, changed: 1, in_the_way: 0, unchanged: 0, not_undoable: 0 },
    });
    expect(one(dry)).to.deep.equal({
      entry_id: entry.id,
      schema: 'article',
      action: 'revert',
      fields: [
        { field: 'title', from: 'c', to: 'a' },
        { field: 'code', from: 'undo-2', to: 'undo-1' },
      ],
      in_the_way: [],
    });
    expect((await read(path))?.version).to.equal(3);

    const applied = await service.owner('POST', '/api/admin/undo', { correlation_id: id, apply: true });
    expect(applied.headers).to.include.keys('x-commit-position');
    const report = applied.json<Report>();
    expect(report).to.deep.equal({ ...dry, applied: true, correlation_id: report.correlation_id });
    const back = await read(path);
    expect([back?.version, back?.data['title'], back?.data['code'], back?.data['body']]).to.deep.equal([
      4,
      'a',
      'undo-1',
      'x',
    ]);
    // The unique value is free.
    await made(other('POST', '/article', { data: { title: 't', code: 'undo-2' } }));

    const again = await undo({ correlation_id: id, apply: true });
    expect([again.entries, again.totals['unchanged']]).to.deep.equal([[], 1]);
    const redo = await undo({ correlation_id: report.correlation_id!, apply: true });
    expect(one(redo)).to.deep.include({ action: 'revert', fields: [{ field: 'title', from: 'a', to: 'c' }] });
    expect(one(redo).in_the_way).to.deep.equal([
      { field: 'code', reason: 'refused', message: 'unique value already held' },
    ]);
    expect((await read(path))?.data).to.include({ title: 'c', code: 'undo-1' });
  });

  it('keeps values that others wrote later, and names their authors', async () => {
    const entry = await made(other('POST', '/article', { data: { title: 'a', body: 'x' } }));
    const path = `/article/${entry.id}`;
    const { id, call } = batch();
    await made(call('PUT', path, { data: { title: 'b', body: 'y' } }));
    const writer = await service.key({});
    const later = await made(writer('PUT', PATH + path, { data: { title: 'theirs' } }));
    const updated = later as unknown as { updated_by: { kind: string; id: string }; updated_at: string };
    const report = one(await undo({ correlation_id: id, apply: true }));
    expect(report.fields).to.deep.equal([{ field: 'body', from: 'y', to: 'x' }]);
    expect(report.in_the_way).to.deep.equal([
      {
        field: 'title',
        reason: 'later_edit',
        message: 'edited after the batch',
        version: 3,
        actor: updated.updated_by,
        at: updated.updated_at,
      },
    ]);
    expect((await read(path))?.data).to.include({ title: 'theirs', body: 'x' });
  });

  it('keeps values that others wrote between two changes of the batch, also in the same field', async () => {
    const entry = await made(other('POST', '/article', { data: { title: 'a', body: 'x' } }));
    const path = `/article/${entry.id}`;
    const { id, call } = batch();
    await made(call('PUT', path, { data: { title: 'b' } }));
    await made(other('PUT', path, { data: { title: 'c', body: 'y' } }));
    await made(call('PUT', path, { data: { title: 'd' } }));
    expect(one(await undo({ correlation_id: id, apply: true })).fields).to.deep.equal([
      { field: 'title', from: 'd', to: 'c' },
    ]);
    expect((await read(path))?.data).to.include({ title: 'c', body: 'y' });
  });

  it('deletes entries that the batch created unless others have edited them, and restores them when the undo is undone', async () => {
    const { id, call } = batch();
    const lone = await made(call('POST', '/article', { data: { title: 'lone', code: 'lone' } }));
    const edited = await made(call('POST', '/article', { data: { title: 'edited' } }));
    await made(other('PUT', `/article/${edited.id}`, { data: { body: 'by others' } }));
    const report = await undo({ correlation_id: id, apply: true });
    expect(report.totals).to.deep.include({ changed: 1, in_the_way: 1 });
    const of = (entry: Entry) => report.entries.find(({ entry_id }) => entry_id === entry.id)!;
    expect(of(lone)).to.deep.include({ action: 'delete', in_the_way: [] });
    expect(of(edited).action).to.equal('none');
    expect(of(edited).in_the_way[0]).to.include({
      reason: 'later_edit',
      message: 'edited after the batch made it',
      version: 2,
    });
    expect(await read(`/article/${lone.id}`)).to.equal(undefined);
    expect((await read(`/article/${edited.id}`))?.version).to.equal(2);
    expect(one(await undo({ correlation_id: report.correlation_id!, apply: true }))).to.include({ action: 'undelete' });
    expect((await read(`/article/${lone.id}`))?.data).to.include({ title: 'lone', code: 'lone' });
  });

  it('restores soft-deleted and deleted entries as they were before the batch', async () => {
    const hard = await made(other('POST', '/article', { data: { title: 'hard', code: 'hard' } }));
    const soft = await made(other('POST', '/kept', { data: { text: 'soft' } }));
    const { id, call } = batch();
    await made(call('PUT', `/article/${hard.id}`, { data: { title: 'spoilt' } }));
    expect((await call('DELETE', `/article/${hard.id}`)).status).to.equal(204);
    expect((await call('DELETE', `/kept/${soft.id}`)).status).to.equal(204);
    const dry = await undo({ correlation_id: id });
    expect(dry.entries.map(({ action }) => action)).to.deep.equal(['undelete', 'undelete']);
    expect(await read(`/article/${hard.id}`)).to.equal(undefined);
    const report = await undo({ correlation_id: id, apply: true });
    expect(
      report.entries.toSorted((a, b) => (a.schema < b.schema ? -1 : 1)).map(({ action, fields }) => [action, fields]),
    ).to.deep.equal([
      ['undelete', [{ field: 'title', from: 'spoilt', to: 'hard' }]],
      ['undelete', []],
    ]);
    expect((await read(`/article/${hard.id}`))?.data).to.include({ title: 'hard', code: 'hard' });
    expect((await read(`/kept/${soft.id}`))?.data).to.deep.equal({ text: 'soft' });
  });

  it('does not restore an entry whose unique value another entry has taken', async () => {
    const entry = await made(other('POST', '/article', { data: { title: 'a', code: 'taken-over' } }));
    const { id, call } = batch();
    await call('DELETE', `/article/${entry.id}`);
    await made(other('POST', '/article', { data: { title: 'b', code: 'taken-over' } }));
    for (const apply of [false, true]) {
      const undone = one(await undo({ correlation_id: id, apply }));
      expect([undone.action, undone.in_the_way.map(({ message }) => message)], String(apply)).to.deep.equal([
        'none',
        ['unique value already held'],
      ]);
    }
    expect(await read(`/article/${entry.id}`)).to.equal(undefined);
  });

  it('reverts the status', async () => {
    const draft = await made(other('POST', '/article', { data: { title: 'draft' } }));
    const live = await made(other('POST', '/article', { data: { title: 'live' } }));
    await made(other('PUT', `/article/${live.id}/publish`));
    const { id, call } = batch();
    await made(call('PUT', `/article/${draft.id}/publish`));
    await made(call('PUT', `/article/${live.id}/archive`));
    const report = await undo({ correlation_id: id, apply: true });
    expect(
      report.entries.map(({ fields }) => fields).toSorted((a, b) => String(a[0]!.to).localeCompare(String(b[0]!.to))),
    ).to.deep.equal([
      [{ field: 'status', from: 'published', to: 'draft' }],
      [{ field: 'status', from: 'archived', to: 'published' }],
    ]);
    expect([(await read(`/article/${draft.id}`))?.status, (await read(`/article/${live.id}`))?.status]).to.deep.equal([
      'draft',
      'published',
    ]);
    await undo({ correlation_id: report.correlation_id!, apply: true });
    expect([(await read(`/article/${draft.id}`))?.status, (await read(`/article/${live.id}`))?.status]).to.deep.equal([
      'published',
      'archived',
    ]);
  });

  it('undoes the creation of related entries together, in any order', async () => {
    const { id, call } = batch();
    const author = await made(call('POST', '/author', { data: { name: 'n' } }));
    const article = await made(call('POST', '/article', { data: { title: 'by n', author_id: author.id } }));
    await made(call('PUT', `/author/${author.id}`, { data: { name: 'm' } }));
    const first = await undo({ correlation_id: id, apply: true });
    expect(first.totals).to.deep.include({ changed: 2, in_the_way: 0 });
    expect([await read(`/author/${author.id}`), await read(`/article/${article.id}`)]).to.deep.equal([
      undefined,
      undefined,
    ]);
    const dry = await undo({ correlation_id: first.correlation_id! });
    expect(dry.totals).to.deep.include({ changed: 2, in_the_way: 0 });
    await undo({ correlation_id: first.correlation_id!, apply: true });
    expect((await read(`/article/${article.id}`))?.data['author_id']).to.equal(author.id);
    expect((await read(`/author/${author.id}`))?.data['name']).to.equal('m');
  });

  it('plans entries that were deleted in any order as it restores them', async () => {
    const author = await made(other('POST', '/author', { data: { name: 'n' } }));
    const article = await made(other('POST', '/article', { data: { title: 'by n', author_id: author.id } }));
    const { id, call } = batch();
    // The author is deleted first, so the article, which was written last, is planned first.
    await made(call('PUT', `/article/${article.id}`, { data: { author_id: null } }));
    expect((await call('DELETE', `/author/${author.id}`)).status).to.equal(204);
    expect((await call('DELETE', `/article/${article.id}`)).status).to.equal(204);
    for (const apply of [false, true])
      expect((await undo({ correlation_id: id, apply })).totals, String(apply)).to.deep.include({
        changed: 2,
        in_the_way: 0,
      });
    expect((await read(`/article/${article.id}`))?.data['author_id']).to.equal(author.id);
  });

  it('restores references that a deletion removed', async () => {
    const author = await made(other('POST', '/author', { data: { name: 'n' } }));
    const article = await made(other('POST', '/article', { data: { title: 'by n', author_id: author.id } }));
    const { id, call } = batch();
    expect((await call('DELETE', `/author/${author.id}`)).status).to.equal(204);
    expect((await read(`/article/${article.id}`))?.data['author_id']).to.equal(null);
    await undo({ correlation_id: id, apply: true });
    expect((await read(`/article/${article.id}`))?.data['author_id']).to.equal(author.id);
  });

  it('does not delete an entry that other entries now refer to', async () => {
    const { id, call } = batch();
    const author = await made(call('POST', '/author', { data: { name: 'n' } }));
    const article = await made(other('POST', '/article', { data: { title: 'theirs', author_id: author.id } }));
    for (const apply of [false, true])
      expect(one(await undo({ correlation_id: id, apply })).in_the_way).to.deep.equal([
        { reason: 'refused', message: 'entry is referenced by article.author' },
      ]);
    expect((await read(`/article/${article.id}`))?.data['author_id']).to.equal(author.id);
  });

  it('does not write values that the current rules refuse, and reports the reason', async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'ruled',
      fields: [
        { name: 'size', field_type: 'integer' },
        { name: 'text', field_type: 'text' },
      ],
    });
    const entry = await made(other('POST', '/ruled', { data: { size: 1, text: 'a' } }));
    const { id, call } = batch();
    await made(call('PUT', `/ruled/${entry.id}`, { data: { size: 10, text: 'b' } }));
    await service.owner('PUT', '/api/admin/schemas/ruled', {
      name: 'ruled',
      fields: [
        { name: 'size', field_type: 'integer', validation: [{ rule: 'min', params: { value: 5 } }] },
        { name: 'text', field_type: 'text' },
      ],
    });
    for (const apply of [false, true]) {
      const undone = one(await undo({ correlation_id: id, apply }));
      expect(undone.fields).to.deep.equal([{ field: 'text', from: 'b', to: 'a' }]);
      expect(undone.in_the_way).to.have.length(1);
      expect(undone.in_the_way[0]).to.include({ field: 'size', reason: 'refused' });
    }
    expect((await read(`/ruled/${entry.id}`))?.data).to.deep.equal({ size: 10, text: 'a' });
  });

  it('undoes only the changes of an API key in a time range, both ends included', async () => {
    const { raw_key, id: keyId } = (
      await service.owner('POST', '/api/admin/api-keys', { name: 'spoiler', roles: ['editor'], scopes: ['*:*'] })
    ).json<{ raw_key: string; id: string }>();
    const spoil = (method: string, path: string, body?: unknown) =>
      service.content(method, PATH + path, body, { 'x-api-key': raw_key });
    const entry = await made(other('POST', '/article', { data: { title: 'a' } }));
    const path = `/article/${entry.id}`;
    await made(spoil('PUT', path, { data: { title: 'b' } }));
    const in_between = (await made(spoil('PUT', path, { data: { title: 'c' } }))) as Entry & { updated_at: string };
    const created = (await made(spoil('POST', '/article', { data: { title: 'by key' } }))) as Entry & {
      created_at: string;
    };
    const range = { api_key_id: keyId, from: in_between.updated_at, to: created.created_at };
    const report = await undo({ ...range, apply: true });
    expect(report.totals).to.include({ events: 2, entries: 2, changed: 2 });
    expect((await read(path))?.data['title']).to.equal('b');
    expect(await read(`/article/${created.id}`)).to.equal(undefined);
    const none = await service.owner('POST', '/api/admin/undo', { api_key_id: v7(), from: range.from, to: range.to });
    expect(none.status).to.equal(404);
  });

  it('reports events of the batch that do not belong to entries', async () => {
    const { id } = batch();
    await service.owner('POST', '/api/admin/schemas', { name: 'not_an_entry', fields: [] }, { 'x-correlation-id': id });
    const report = await undo({ correlation_id: id });
    expect(report.entries).to.deep.equal([]);
    expect(report.not_undoable.map(({ kind, type }) => [kind, type])).to.deep.equal([
      ['content_type', 'ContentTypeSaved'],
    ]);
    expect(report.totals).to.include({ not_undoable: 1, entries: 0 });
  });

  it('undoes an import by its id', async () => {
    const { id, call } = batch();
    await made(call('POST', '/kept', { data: { text: 'imported' } }));
    expect(one(await undo({ import_id: id }))).to.include({ action: 'delete', schema: 'kept' });
  });

  it('finds no events of another tenant', async () => {
    const { id, call } = batch();
    await made(call('POST', '/kept', { data: { text: 'ours' } }));
    expect((await service.owner('POST', '/api/admin/tenants', { slug: 'undo_other', name: 'Other' })).status).to.equal(
      201,
    );
    const elsewhere = await service.owner(
      'POST',
      '/api/admin/undo',
      { correlation_id: id },
      { 'x-tenant-id': 'undo_other' },
    );
    expect(elsewhere.status).to.equal(404);
  });

  it('undoes thousands of entries in one call, and then the undo', async function () {
    this.timeout(120_000);
    const { id, call } = batch();
    for (let at = 0; at < 2; at += 1) {
      const entries = Array.from({ length: 1000 }, (_, index) => ({ data: { text: `${at} ${index}` } }));
      expect((await call('POST', '/kept/bulk', { entries })).status).to.equal(201);
    }
    const count = async () => Number((await other('GET', '/kept?count=true&limit=1')).headers['x-total-count']);
    const before = await count();
    expect((await undo({ correlation_id: id })).totals).to.include({ events: 2000, entries: 2000, changed: 2000 });
    const report = await undo({ correlation_id: id, apply: true });
    expect(report.totals).to.include({ changed: 2000, in_the_way: 0 });
    expect(await count()).to.equal(before - 2000);
    expect((await undo({ correlation_id: report.correlation_id!, apply: true })).totals).to.include({
      changed: 2000,
      in_the_way: 0,
    });
    expect(await count()).to.equal(before);
  });
});
