import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { gate } from '../support/gate.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { useService } from '../support/service.ts';

const LOCK_MS = 3_000;

describe('a service whose statements wait for locks', () => {
  const service = useService({
    environment: {
      DATABASE_MAX_CONNECTIONS: '5',
      DATABASE_CONNECTION_WAIT: '300ms',
      DATABASE_LOCK_TIMEOUT: `${String(LOCK_MS)}ms`,
    },
    start: { logger: recordingLogger() },
  });

  before(async () => {
    const note = { name: 'note', fields: [{ name: 'n', field_type: 'integer' }] };
    expect((await service.owner('POST', '/api/admin/schemas', note)).status).to.equal(200);
    expect((await service.ownerContent('POST', '/api/v1/content/note', { data: { n: 1 } })).status).to.equal(201);
  });

  it('verifies the audit chain in more requests than it has connections, and answers others meanwhile', async () => {
    const verifications = Promise.all(Array.from({ length: 5 }, () => service.owner('GET', '/api/admin/audit/verify')));
    expect((await service.ownerContent('GET', '/api/v1/content/note')).status).to.equal(200);
    expect((await verifications).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
  });

  it('answers 503 to requests that wait for too long, and reports an exhausted pool as degraded', async () => {
    const locked = gate();
    const released = gate();
    const holding = service.database.db().transaction(
      async (tx) => {
        const [table] = await tx.query<{ name: string }>(
          `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'rm_content' and tablename like '%note'`,
        );
        await tx.query(`lock table ${table?.name ?? ''} in access exclusive mode`);
        locked.open();
        await released.opened;
      },
      { idleTimeoutMs: 60_000 },
    );
    await locked.opened;
    try {
      const list = () => service.ownerContent('GET', '/api/v1/content/note');
      // The projector takes the connection that the requests of one tenant leave free.
      const writing = service.ownerContent('POST', '/api/v1/content/note', { data: { n: 2 } });
      const began = performance.now();
      const waiting = Promise.all(Array.from({ length: 8 }, list));
      await eventually(async () => {
        const ready = await service.admin('GET', '/readyz');
        expect([ready.status, ready.json()]).to.deep.equal([
          200,
          { status: 'degraded', reasons: [{ code: 'database_pool_exhausted' }] },
        ]);
      });
      for (const { status, headers } of await waiting) {
        expect(status).to.equal(503);
        expect(headers['retry-after']).to.equal('1');
      }
      expect(performance.now() - began).to.be.below(LOCK_MS * 2);
      released.open();
      expect((await writing).status).to.equal(201);
    } finally {
      released.open();
      await holding;
    }
    await eventually(async () => {
      expect((await service.ownerContent('GET', '/api/v1/content/note')).status).to.equal(200);
      expect((await service.admin('GET', '/readyz')).json()).to.deep.equal({ status: 'ok' });
    });
  });
});
