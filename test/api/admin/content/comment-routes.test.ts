import { expect } from 'chai';
import { v7 } from 'uuid';
import { addComment } from '../../../../application/content/add-comment.ts';
import { deleteComment } from '../../../../application/content/delete-comment.ts';
import { hasCode } from '../../../../domain/errors.ts';
import { openMemoryEventStore } from '../../../../infrastructure/event-store/memory/memory-event-store.ts';
import { testContext } from '../../../support/content.ts';
import { type Call, caller, resultOf, statusAndError } from '../../../support/http.ts';
import { LICENSE_PUBLIC_KEY, licenseToken } from '../../../support/license.ts';
import { rejectionOf } from '../../../support/rejection.ts';
import { useService } from '../../../support/service.ts';

type Comment = {
  readonly id: string;
  readonly parent: string | null;
  readonly body: string;
  readonly author: { readonly kind: string; readonly id: string };
};
type Page = { readonly data: readonly Comment[]; readonly total: number };

describe('comments on entries', () => {
  const service = useService({
    environment: {
      SVC_LICENSE_PUBLIC_KEY: LICENSE_PUBLIC_KEY,
      SVC_LICENSE_KEY: licenseToken({ capabilities: ['content-pro'] }),
    },
  });
  let editor: Call;
  let editorId: string;
  let path: string;
  const { owner } = service;

  before(async () => {
    await owner('POST', '/api/admin/schemas', {
      name: 'article',
      with_soft_delete: true,
      fields: [{ name: 'title', field_type: 'text' }],
    });
    const person = { email: 'editor@palimpsest.test', password: 'Correct-Horse-8-battery' };
    editorId = (await owner('POST', '/api/admin/users', { ...person, roles: ['editor'] })).json<{ id: string }>().id;
    const { token } = (await service.admin('POST', '/api/admin/auth/login', person)).json<{ token: string }>();
    editor = caller(() => service.service().adminUrl, { authorization: `Bearer ${token}` });
  });
  beforeEach(async () => {
    const entry = await owner('POST', '/api/admin/content', { schema_name: 'article', data: { title: 'Commented' } });
    expect(entry.status, entry.text).to.equal(201);
    path = `/api/admin/content/${entry.json<{ id: string }>().id}/comments`;
  });

  async function comment(by: Call, body: string, parent?: string): Promise<Comment> {
    return resultOf<Comment>(await by('POST', path, { body, ...(parent === undefined ? {} : { parent }) }), 201);
  }
  const list = async (query = ''): Promise<Page> => (await owner('GET', `${path}${query}`)).json<Page>();

  it('are listed oldest first, in pages, with their author and parent', async () => {
    const first = await comment(editor, 'First!');
    expect(first).to.deep.include({
      entry_id: path.split('/')[4],
      parent: null,
      body: 'First!',
      author: { kind: 'user', id: editorId },
    });
    const second = await comment(owner, 'Answer', first.id);
    expect(second.parent).to.equal(first.id);
    expect(await list()).to.deep.equal({ data: [first, second], total: 2, limit: 25, offset: 0 });
    expect(await list('?limit=1&offset=1')).to.deep.equal({ data: [second], total: 2, limit: 1, offset: 1 });
    expect(statusAndError(await owner('GET', `${path}?limit=0`))).to.deep.equal([
      400,
      'invalid query parameter: limit',
    ]);
  });

  it('are deleted by their author and by admins only; replies are kept', async () => {
    const mine = await comment(editor, 'mine');
    const theirs = await comment(owner, 'theirs', mine.id);
    expect(statusAndError(await editor('DELETE', `${path}/${theirs.id}`))).to.deep.equal([403, 'permission denied']);
    expect((await editor('DELETE', `${path}/${mine.id}`)).status).to.equal(204);
    expect((await list()).data).to.deep.equal([{ ...theirs, parent: null }]);
    const other = await comment(editor, 'other');
    expect((await owner('DELETE', `${path}/${other.id}`)).status).to.equal(204);
    for (const id of [mine.id, v7(), 'nonsense'])
      expect(statusAndError(await owner('DELETE', `${path}/${id}`))).to.deep.equal([404, 'comment not found']);
  });

  it('belong to one entry and are not found under another', async () => {
    const here = await comment(owner, 'here');
    const other = (await owner('POST', '/api/admin/content', { schema_name: 'article', data: {} })).json<{
      id: string;
    }>().id;
    expect(statusAndError(await owner('DELETE', `/api/admin/content/${other}/comments/${here.id}`))).to.deep.equal([
      404,
      'comment not found',
    ]);
    const reply = await owner('POST', `/api/admin/content/${other}/comments`, { body: 'x', parent: here.id });
    expect([reply.status, reply.json()['fields']]).to.deep.equal([
      422,
      [{ field: 'parent', message: 'comment not found' }],
    ]);
  });

  it('have 1 to 10,000 characters', async () => {
    for (const body of [
      { body: '' },
      { body: ' \n' },
      { body: 'x'.repeat(10_001) },
      {},
      { body: 1 },
      { body: 'x', more: 1 },
      { body: 'x', parent: 'nonsense' },
    ]) {
      expect((await owner('POST', path, body)).status, JSON.stringify(body).slice(0, 60)).to.equal(422);
    }
    expect((await comment(owner, '😀'.repeat(10_000))).body).to.have.length(20_000);
  });

  it('are not shown while their entry is deleted, and are shown after its restore', async () => {
    const kept = await comment(owner, 'kept');
    const entry = path.slice(0, -'/comments'.length);
    await owner('DELETE', entry);
    expect(statusAndError(await owner('GET', path))).to.deep.equal([404, 'content not found']);
    expect(statusAndError(await owner('POST', path, { body: 'x' }))).to.deep.equal([404, 'content not found']);
    expect(statusAndError(await owner('DELETE', `${path}/${kept.id}`))).to.deep.equal([404, 'content not found']);
    expect((await owner('PUT', `${entry}/undelete`)).status).to.equal(200);
    expect((await list()).data).to.deep.equal([kept]);
  });

  it('are created once for a repeated idempotency key', async () => {
    for (let time = 0; time < 2; time += 1)
      expect((await owner('POST', path, { body: 'once' }, { 'idempotency-key': path })).status).to.equal(201);
    expect((await list()).total).to.equal(1);
  });

  it('cannot be deleted by another tenant', async () => {
    const eventStore = openMemoryEventStore();
    const comments = { list: () => Promise.resolve({ comments: [], total: 0 }), exists: () => Promise.resolve(false) };
    const { comment: made } = await addComment({ entryId: 'e', body: 'b', parent: undefined }, testContext(), {
      eventStore,
      comments,
    });
    const deletion = deleteComment({ id: made.id, entryId: 'e', administers: true }, testContext({ tenant: 'acme' }), {
      eventStore,
    });
    expect(hasCode(await rejectionOf(deletion), 'comment_not_found')).to.equal(true);
  });
});

describe('comments without content-pro', () => {
  const service = useService();

  it('are refused with 402 naming the feature, before any other check', async () => {
    const path = `/api/admin/content/${v7()}/comments`;
    for (const [method, to, body] of [
      ['GET', path, undefined],
      ['POST', path, {}],
      ['DELETE', `${path}/${v7()}`, undefined],
    ] as const) {
      const reply = await service.owner(method, to, body);
      expect([reply.status, reply.json()]).to.deep.equal([
        402,
        {
          error: 'payment_required',
          plugin: 'content',
          feature: 'feature:content-pro',
          upgrade_url: 'https://palimpsest.example/upgrade',
        },
      ]);
    }
  });
});
