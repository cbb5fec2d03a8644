import { expect } from 'chai';
import { v7 } from 'uuid';
import { openPostgresEventStore } from '../../infrastructure/event-store/postgres/postgres-event-store.ts';
import type { ParkedStream } from '../../projections/engine/parked-streams.ts';
import type { Reply } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly data: Readonly<Record<string, unknown>> };

describe('a stream whose event cannot be applied', () => {
  const { owner, ownerContent, admin, content, database } = useService();
  const path = '/api/v1/content/note';

  function good(reply: Reply): Reply {
    expect(reply.status, reply.text).to.be.oneOf([200, 201, 204]);
    expect(reply.headers['x-projection-lag']).to.equal(undefined);
    return reply;
  }

  const create = async (title: string): Promise<Entry> =>
    good(await ownerContent('POST', path, { data: { title } })).json<Entry>();
  const read = async (id: string): Promise<Entry> => good(await ownerContent('GET', `${path}/${id}`)).json<Entry>();

  it('waits alone, is reported, and is applied by a retry after the cause is repaired', async () => {
    good(await owner('POST', '/api/admin/schemas', { name: 'note', fields: [{ name: 'title', field_type: 'text' }] }));
    const [first, second] = [await create('first'), await create('second')];
    // The row is not at the revision before the next event of its stream.
    await database.db().execute('update rm_content.note set _version = 7 where id = $1', [first.id]);
    const poisoned = `entry-default.${first.id}`;
    const store = await openPostgresEventStore({ database: database.db() });
    try {
      const events = [];
      for await (const event of store.readStream(poisoned)) events.push(event);
      const { metadata, data } = events[0]!;
      for (const [index, title] of ['changed', 'changed again'].entries())
        await store.append(
          poisoned,
          [
            {
              id: v7(),
              type: 'EntryFieldsChanged',
              data: { type_id: data['type_id']!, type_revision: data['type_revision']!, fields: { title } },
              metadata,
            },
          ],
          { expected: index },
        );
    } finally {
      await store.close();
    }
    // The response shows the write: the read model has passed the event that it cannot apply.
    const third = await create('third');
    good(await ownerContent('PUT', `${path}/${second.id}`, { data: { title: 'second changed' } }));
    expect((await read(second.id)).data['title']).to.equal('second changed');
    expect((await read(third.id)).data['title']).to.equal('third');
    expect((await read(first.id)).data['title']).to.equal('first');

    const parked = good(await owner('GET', '/api/admin/projections/parked')).json<{ parked: ParkedStream[] }>().parked;
    expect(parked).to.have.lengthOf(1);
    expect(parked[0]).to.include({
      projection: 'projection/content/2',
      stream: poisoned,
      tenant: 'default',
      revision: 1,
    });
    for (const call of [admin, content])
      expect((await call('GET', '/readyz')).json()).to.deep.equal({
        status: 'degraded',
        reasons: [{ code: 'stream_parked', projection: 'projection/content/2', streams: 1 }],
      });
    expect((await owner('GET', '/api/admin/metrics')).text).to.include(
      'palimpsest_parked_streams{follower="projection/content/2"} 1',
    );
    expect((await admin('GET', '/api/admin/projections/parked')).status).to.equal(401);

    const retry = async (body: object) =>
      good(await owner('POST', '/api/admin/projections/parked/retry', body)).json<{ retried: object[] }>().retried;
    expect(await retry({ stream: 'entry-default.other' })).to.deep.equal([]);
    const identity = { projection: 'projection/content/2', stream: poisoned };
    expect(await retry(identity)).to.deep.equal([{ ...identity, outcome: 'parked' }]);
    await database.db().execute('update rm_content.note set _version = 1 where id = $1', [first.id]);
    expect(await retry({})).to.deep.equal([{ ...identity, outcome: 'applied' }]);
    expect(await read(first.id)).to.deep.include({ version: 3, data: { title: 'changed again' } });
    expect(good(await owner('GET', '/api/admin/projections/parked')).json()).to.deep.equal({ parked: [] });
    good(await ownerContent('PUT', `${path}/${first.id}`, { data: { title: 'last' } }));
    expect(await read(first.id)).to.deep.include({ version: 4, data: { title: 'last' } });
  }).timeout(30_000);
});
