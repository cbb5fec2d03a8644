import { expect } from 'chai';
import { type EventSource, openEventSource } from '../support/event-source.ts';
import { eventually } from '../support/eventually.ts';
import type { Call } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Envelope = Record<string, unknown>;
type Change = {
  position: string;
  event: string;
  entry_id: string;
  version: number;
  data: Envelope | null;
  old_data: Envelope | null;
};
type Page = { data: Change[]; next: string };
type Entry = { id: string; version: number; status: string; data: Envelope };

/** A copy of the entries, maintained from the changes feed only. */
class Copy {
  readonly entries = new Map<string, { version: number; data: Envelope }>();
  next = '00000000000000000000';

  apply({ position, entry_id, version, data, old_data }: Change): void {
    expect(position > this.next, 'positions only grow').to.equal(true);
    const known = this.entries.get(entry_id);
    expect(old_data, `${entry_id} before version ${version}`).to.deep.equal(known?.data ?? null);
    if (data) this.entries.set(entry_id, { version, data });
    else this.entries.delete(entry_id);
    this.next = position;
  }

  rows(): unknown[] {
    return [...this.entries.values()].toSorted((a, b) => (String(a.data['id']) < String(b.data['id']) ? -1 : 1));
  }
}

describe('a consumer of the changes feed', () => {
  const service = useService();
  const sources: EventSource[] = [];
  const PATH = '/api/v1/content/story';
  const key = { value: '' };

  before(async () => {
    const schema = {
      name: 'story',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'rank', field_type: 'integer' },
        { name: 'note', field_type: 'text' },
      ],
    };
    expect((await service.owner('POST', '/api/admin/schemas', schema)).status).to.equal(200);
    expect(
      (
        await service.owner('POST', '/api/admin/schemas', {
          name: 'noise',
          fields: [{ name: 'text', field_type: 'text' }],
        })
      ).status,
    ).to.equal(200);
    key.value = (
      await service.owner('POST', '/api/admin/api-keys', {
        name: 'consumer',
        roles: ['editor'],
        scopes: ['content:read'],
      })
    ).json<{ raw_key: string }>().raw_key;
  });
  after(() => {
    for (const source of sources) source.close();
  });

  const consumer: Call = (method, path, body, headers) =>
    service.content(method, path, body, { 'x-api-key': key.value, ...headers });

  /** All entries of every status, in the format of the copy. */
  async function list(): Promise<unknown[]> {
    const rows: { version: number; data: Envelope }[] = [];
    for (const status of ['draft', 'published', 'archived']) {
      for (let offset = 0; ; offset += 200) {
        const page = (await consumer('GET', `${PATH}?filters[_status]=${status}&limit=200&offset=${offset}`)).json<
          Entry[]
        >();
        rows.push(
          ...page.map((entry) => ({
            version: entry.version,
            data: { ...entry.data, id: entry.id, status: entry.status },
          })),
        );
        if (page.length < 200) break;
      }
    }
    return rows.toSorted((a, b) => (String(a.data['id']) < String(b.data['id']) ? -1 : 1));
  }

  /** Random writes of several concurrent writers. The seed is fixed, so that a failure is reproducible. */
  async function write(times: number, seed: number, ids: string[]): Promise<void> {
    let state = seed;
    const random = (below: number) => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let at = 0; at < times; at += 1) {
          const id = ids[random(Math.max(1, ids.length))];
          const dice = random(10);
          if (id === undefined || dice < 3) {
            const made = await service.ownerContent('POST', PATH, {
              data: { title: `t${random(1000)}`, rank: random(10) },
            });
            ids.push(made.json<Entry>().id);
          } else if (dice < 6) await service.ownerContent('PUT', `${PATH}/${id}`, { data: { rank: random(10) } });
          else if (dice === 6)
            await service.ownerContent('PUT', `${PATH}/${id}/${random(2) === 0 ? 'publish' : 'unpublish'}`);
          else if (dice === 7) await service.ownerContent('DELETE', `${PATH}/${id}`);
          else if (dice === 8)
            await service.ownerContent('PUT', `${PATH}/${id}/${random(2) === 0 ? 'archive' : 'undelete'}`);
          else await service.ownerContent('POST', '/api/v1/content/noise', { data: { text: 'n' } });
        }
      }),
    );
  }

  async function readAll(copy: Copy, limit: number): Promise<void> {
    for (;;) {
      const page = (await consumer('GET', `${PATH}/changes?after=${copy.next}&limit=${limit}`)).json<Page>();
      for (const change of page.data) copy.apply(change);
      const still = page.next === copy.next;
      copy.next = page.next;
      if (still) return;
    }
  }

  it('can rebuild all entries exactly, first page by page and then live, during concurrent writes', async function () {
    this.timeout(90_000);
    const ids: string[] = [];
    await write(12, 7, ids);
    // Rename a field in between: older values appear under the new name.
    const renamed = await service.owner('PUT', '/api/admin/schemas/story/fields/note/rename', { new_name: 'remark' });
    expect(renamed.status, renamed.text).to.equal(200);
    await service.ownerContent(
      'PUT',
      `${PATH}/${(await service.ownerContent('POST', PATH, { data: { title: 'r', remark: 'first' } })).json<Entry>().id}`,
      { data: { remark: 'second' } },
    );

    const copy = new Copy();
    const writing = write(12, 11, ids);
    await readAll(copy, 7);
    const source = await openEventSource(`${service.service().contentUrl}${PATH}/changes?after=${copy.next}`, {
      'x-api-key': key.value,
    });
    sources.push(source);
    expect(source.status).to.equal(200);
    await writing;
    await write(6, 13, ids);
    const wanted = await list();
    expect(wanted.length).to.be.greaterThan(5);
    let applied = 0;
    await eventually(() => {
      const live = source.received.filter(({ event }) => event === 'change');
      for (; applied < live.length; applied += 1) copy.apply(JSON.parse(live[applied]!.data) as Change);
      expect(copy.rows()).to.deep.equal(wanted);
    });
    // A second consumer reads everything page by page from the start.
    const second = new Copy();
    await readAll(second, 1000);
    expect(second.rows()).to.deep.equal(wanted);
    expect([...second.entries.values()].every(({ data }) => 'remark' in data && !('note' in data))).to.equal(true);
  });

  it('can rebuild the entries without the fields that its access rule masks', async () => {
    const rule = { role: 'outsider', schema_name: 'story', actions: ['read'], field_mask: ['title'] };
    expect((await service.owner('POST', '/api/admin/permissions', rule)).status).to.be.oneOf([200, 201]);
    const outsider = await service.key({ roles: ['outsider'], scopes: ['content:read'] });
    const copy = new Copy();
    for (;;) {
      const page = (await outsider('GET', `${PATH}/changes?after=${copy.next}`)).json<Page>();
      for (const change of page.data) copy.apply(change);
      if (page.next === copy.next) break;
      copy.next = page.next;
    }
    const seen = (await list()).map((row) => {
      const {
        version,
        data: { title: _, ...data },
      } = row as { version: number; data: Envelope };
      return { version, data };
    });
    expect(copy.rows()).to.deep.equal(seen);
  });

  it('receives an event when the content type is saved', async () => {
    const source = await openEventSource(`${service.service().contentUrl}${PATH}/changes?after=99999999999999999990`, {
      'x-api-key': key.value,
    });
    sources.push(source);
    const before = Number(source.headers['x-schema-revision']);
    const saved = await service.owner('PUT', '/api/admin/schemas/story/fields/remark/rename', { new_name: 'note' });
    expect(saved.status, saved.text).to.equal(200);
    await eventually(
      () => {
        expect(source.received.map(({ event, data }) => [event, data])).to.deep.equal([
          ['schema', JSON.stringify({ schema: 'story', revision: before + 1 })],
        ]);
      },
      { timeoutMs: 15_000 },
    );
  });

  it('loses the stream when its key is revoked', async () => {
    const made = (
      await service.owner('POST', '/api/admin/api-keys', {
        name: 'leaving',
        roles: ['editor'],
        scopes: ['content:read'],
      })
    ).json<{ raw_key: string; id: string }>();
    const source = await openEventSource(`${service.service().contentUrl}${PATH}/changes`, {
      'x-api-key': made.raw_key,
    });
    sources.push(source);
    expect(source.status).to.equal(200);
    expect((await service.owner('POST', `/api/admin/api-keys/${made.id}/revoke`)).status).to.be.oneOf([200, 204]);
    expect(await source.ended).to.equal('ended');
    expect(source.received.at(-1)).to.include({ event: 'closed' });
  });

  it('loses the stream when the content type is deleted', async () => {
    expect((await service.owner('POST', '/api/admin/schemas', { name: 'passing', fields: [] })).status).to.equal(200);
    const source = await openEventSource(`${service.service().contentUrl}/api/v1/content/passing/changes`, {
      'x-api-key': key.value,
    });
    sources.push(source);
    expect(source.status).to.equal(200);
    expect((await service.owner('DELETE', '/api/admin/schemas/passing')).status).to.equal(204);
    expect(await source.ended).to.equal('ended');
    expect(source.received.map(({ event, data }) => [event, data])).to.deep.equal([
      ['closed', JSON.stringify({ error: 'schema not found', code: 'schema_not_found' })],
    ]);
    expect((await consumer('GET', '/api/v1/content/passing/changes')).status).to.equal(404);
  });

  it('is disconnected when the service stops, and does not hold up the stop', async function () {
    this.timeout(40_000);
    const source = await openEventSource(`${service.service().contentUrl}${PATH}/changes`, { 'x-api-key': key.value });
    sources.push(source);
    const stopped = service.service().stop();
    expect(await source.ended).to.equal('ended');
    await stopped;
  });
});
