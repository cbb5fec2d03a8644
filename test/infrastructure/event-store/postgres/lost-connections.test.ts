import { expect } from 'chai';
import { hasCode } from '../../../../domain/errors.ts';
import type { NewEvent } from '../../../../domain/event.ts';
import { openPostgresEventStore } from '../../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { openDatabase } from '../../../../infrastructure/postgres/database.ts';
import {
  codeOf,
  collect,
  follow,
  idsOf,
  newEvent,
  newStream,
  revisionsOf,
} from '../../../contract/event-store-fixtures.ts';
import { useDatabase } from '../../../support/database.ts';
import { eventually } from '../../../support/eventually.ts';
import { useStore } from './open-store.ts';

describe('the Postgres event store: lost connections', () => {
  const database = useDatabase();
  const store = useStore(() => database.url(), 'victim');
  const kill = (condition = 'true') =>
    database
      .db()
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim' and datname = current_database() and ${condition}`,
      );

  it('reports the result of every append or `outcome_unknown`, after which the same ids are safe to append', async () => {
    const follower = follow(store(), { after: await store().head() });
    await follower.caughtUp();
    let writing = true;
    let unknown = 0;
    const written = new Map<string, readonly string[]>();
    const writers = Array.from({ length: 16 }, async () => {
      const stream = newStream();
      const ids: string[] = [];
      written.set(stream, ids);
      for (let n = 0; writing; n += 1) {
        const event = newEvent();
        const result = await settled(stream, event, n === 0 ? 'no_stream' : n - 1);
        expect(result.revision).to.equal(n);
        ids.push(event.id);
      }
    });
    for (let n = 0; n < 8; n += 1) {
      const before = follower.events().length;
      await follower.until(({ events }) => events().length > before + 200);
      await kill();
    }
    writing = false;
    await Promise.all(writers);
    for (const [stream, ids] of written) {
      // The pool may still hold a connection that was killed: the read that uses it fails and may be repeated.
      const events = await eventually(() => collect(store().readStream(stream)));
      expect(idsOf(events)).to.deep.equal(ids);
      expect(revisionsOf(events)).to.deep.equal(ids.map((_, n) => n));
    }
    const total = [...written.values()].reduce((sum, ids) => sum + ids.length, 0);
    await follower.until(({ events }) => events().length >= total);
    expect(new Set(idsOf(follower.events())).size).to.equal(total);
    expect(idsOf(follower.events())).to.deep.equal(idsOf(await collect(store().readAll())));
    expect(unknown).to.be.greaterThan(0);
    await follower.stop();

    async function settled(stream: string, event: NewEvent, expected: number | 'no_stream') {
      for (let send = 1; ; send += 1) {
        try {
          return await store().append(stream, [event], { expected });
        } catch (error) {
          if (hasCode(error, 'outcome_unknown')) unknown += 1;
          else if (!hasCode(error, 'store_unavailable')) throw error;
          if (send === 20) throw error;
        }
      }
    }
  });

  it('throws `outcome_unknown` for an append whose connection breaks while it is in flight', async () => {
    const stream = newStream();
    const event = newEvent();
    await store().append(newStream(), [newEvent()], { expected: 'any' });
    const outcome = await database.db().transaction(async (tx) => {
      await tx.query('select 1 from eventstore.head for update');
      const append = codeOf(store().append(stream, [event], { expected: 'no_stream' }));
      for (;;) {
        const rows = await kill(`wait_event_type = 'Lock'`);
        if (rows.length > 0) break;
      }
      return append;
    });
    expect(outcome).to.equal('outcome_unknown');
    expect((await store().append(stream, [event], { expected: 'no_stream' })).revision).to.equal(0);
    expect(await collect(store().readStream(stream))).to.have.length(1);
  });

  it('sends an append after its connection broke while idle', async () => {
    await store().append(newStream(), [newEvent()], { expected: 'any' });
    await kill();
    const stream = newStream();
    const event = newEvent();
    for (;;) {
      const code = await codeOf(store().append(stream, [event], { expected: 'no_stream' }));
      if (code === 'nothing was refused') break;
      expect(code).to.equal('outcome_unknown');
    }
    expect(idsOf(await collect(store().readStream(stream)))).to.deep.equal([event.id]);
  });

  it('refuses appends while the server is unreachable, instead of waiting for it', async () => {
    const away = openDatabase({ url: database.url() });
    const failing = { ...away, connect: () => Promise.reject(new Error('connect ECONNREFUSED')) };
    const errors: unknown[] = [];
    const lonely = await openPostgresEventStore({ database: failing, onError: (error) => errors.push(error) });
    expect(await codeOf(lonely.append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('store_unavailable');
    expect(errors).not.to.be.empty;
    await lonely.close();
    await away.close();
  });

  it('follows by polling while LISTEN is not possible', async () => {
    const pool = openDatabase({ url: database.url() });
    const deaf = await openPostgresEventStore({
      database: { ...pool, connect: () => Promise.reject(new Error('too many connections')) },
    });
    const follower = follow(deaf, { after: await deaf.head() });
    await follower.caughtUp();
    await store().append(newStream(), [newEvent()], { expected: 'any' });
    await follower.until(({ events }) => events().length === 1, 3_000);
    await follower.stop();
    await deaf.close();
    await pool.close();
  });
});
