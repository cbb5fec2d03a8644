import { expect } from 'chai';
import pg from 'pg';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { caller } from '../support/http.ts';
import { setUpOwner } from '../support/owner.ts';
import { startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

/** A module that makes the process throw outside of any request, and reject a promise that nothing handles. */
const thrower = `
  process.on('SIGUSR2', () => { throw new Error('thrown outside of requests'); });
  process.on('SIGHUP', () => { void Promise.reject(new Error('rejected outside of requests')); });`;

describe('an error that nothing handles', function () {
  this.timeout(60_000);
  const database = useDatabase();
  const directory = useDirectory();
  /** The owner's session. The processes of all cases use one database, so only the first one is set up. */
  let token: string | undefined;

  for (const [signal, message] of [
    ['SIGUSR2', 'thrown outside of requests'],
    ['SIGHUP', 'rejected outside of requests'],
  ] as const)
    it(`is logged (${message}); open requests get 500, and the process exits with 1`, async () => {
      const service = await startServiceProcess({
        ...testEnvironment(database.url(), directory()),
        NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(thrower)}`,
      });
      const admin = caller(() => service.adminUrl);
      token ??= (await setUpOwner(admin)).token;
      const bearer = { authorization: `Bearer ${token}` };
      const holder = new pg.Client({ connectionString: database.url() });
      await holder.connect();
      try {
        await holder.query('begin; lock table rm_content._content_types in access exclusive mode');
        const open = admin('GET', '/api/admin/schemas', undefined, bearer);
        await eventually(async () => {
          const waiting = await database
            .db()
            .query(
              `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%_content_types%'`,
            );
          expect(waiting).not.to.deep.equal([]);
        });
        service.child.kill(signal);
        const reply = await open;
        expect(reply.status).to.equal(500);
        expect(reply.json<{ code: string }>().code).to.equal('internal');
      } finally {
        await holder.end();
      }
      expect(await service.exited).to.equal(1);
      expect(service.output())
        .to.contain(message)
        .and.to.contain('nothing handles this error: the process ends and must be restarted');
    });
});
