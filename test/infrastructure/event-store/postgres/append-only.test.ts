import { expect } from 'chai';
import { collect, newEvents, newStream } from '../../../contract/event-store-fixtures.ts';
import { useDatabase } from '../../../support/database.ts';
import { rejectionOf } from '../../../support/rejection.ts';
import { useStore } from './open-store.ts';

describe('the append-only tables of the Postgres event store', () => {
  const database = useDatabase();
  const store = useStore(() => database.url());
  const stream = newStream();
  before(() => store().append(stream, newEvents(3), { expected: 'no_stream' }));

  for (const statement of [
    `update eventstore.events set data = '{}'`,
    'update eventstore.events set revision = revision + 1 where position = 1',
    'update eventstore.events set data = data where false',
    'delete from eventstore.events',
    'delete from eventstore.events where position = 1',
    'truncate eventstore.events',
    'truncate eventstore.events cascade',
    'delete from eventstore.head',
    'truncate eventstore.head',
    `merge into eventstore.events e using (select 1 as p) s on e.position = s.p when matched then delete`,
    `insert into eventstore.events select * from eventstore.events where position = 1 on conflict (position) do update set data = '{}'`,
  ]) {
    it(`refuse: ${statement}`, async () => {
      const before = await collect(store().readAll());
      const error: unknown = await rejectionOf(database.db().query(statement));
      expect(error)
        .to.be.instanceOf(Error)
        .with.property('message')
        .that.matches(/is append-only/);
      expect(await collect(store().readAll())).to.deep.equal(before);
    });
  }

  it('refuse changes in a session with the replication role `replica`', async () => {
    const error: unknown = await rejectionOf(
      database.db().transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query('delete from eventstore.events');
      }),
    );
    expect(error)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(/is append-only/);
  });

  it('grant nothing to other roles', async () => {
    const grants = await database
      .db()
      .query(
        `select grantee from information_schema.role_table_grants where table_schema = 'eventstore' and grantee = 'PUBLIC'`,
      );
    expect(grants).to.deep.equal([]);
  });
});
