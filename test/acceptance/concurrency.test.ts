import { expect } from 'chai';
import { type Call, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';

describe('concurrent updates of one entry', () => {
  const service = useService();
  let key: Call;
  let path: string;

  before(async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'n', field_type: 'integer' },
      ],
    });
    key = await service.key({});
  });
  beforeEach(async () => {
    const created = await key('POST', '/api/v1/content/note', { data: { title: 'start' } });
    path = `/api/v1/content/note/${created.json<{ id: string }>().id}`;
  });

  it('all succeed without If-Match, and each adds a revision', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => key('PUT', path, { data: { n } })));
    expect(replies.map(({ status }) => status)).to.deep.equal(Array.from({ length: 50 }, () => 200));
    expect(replies.map((reply) => reply.json<{ version: number }>().version).toSorted((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 50 }, (_, n) => n + 2),
    );
    const revisions = (await key('GET', `${path}/revisions?limit=200`)).json<{ version: number }[]>();
    expect(revisions.map(({ version }) => version)).to.deep.equal(Array.from({ length: 51 }, (_, n) => 51 - n));
  });

  it('all succeed when three hundred are sent at once', async () => {
    const replies = await Promise.all(Array.from({ length: 300 }, (_, n) => key('PUT', path, { data: { n } })));
    expect(replies.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`)).to.deep.equal(
      [],
    );
    expect(new Set(replies.map((reply) => reply.json<{ version: number }>().version)).size).to.equal(300);
  });

  it('succeed exactly once when all send the same If-Match', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => key('PUT', path, { data: { n } }, { 'if-match': '"1"' })),
    );
    expect(replies.filter(({ status }) => status === 200)).to.have.length(1);
    const refusals = replies.filter(({ status }) => status !== 200);
    expect(refusals).to.have.length(49);
    for (const refusal of refusals) expect(statusAndError(refusal)).to.deep.equal([412, 'the entry has changed']);
  });

  it('keep both changes when they touch different fields', async () => {
    await Promise.all([key('PUT', path, { data: { title: 'left' } }), key('PUT', path, { data: { n: 7 } })]);
    expect((await key('GET', path)).json<{ data: object }>().data).to.deep.include({ title: 'left', n: 7 });
  });
});
