import { expect } from 'chai';
import { verifyAudit } from '../../../application/platform/verify-audit.ts';
import { createAudit } from '../../../infrastructure/composition/audit/create-audit.ts';
import { openPostgresEventStore } from '../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { useAuditedLog } from './audited-log.ts';

describe('verifications of the audit chain at the same time', () => {
  const log = useAuditedLog();

  for (const connections of [1, 5])
    it(`end with a pool of ${String(connections)}, and other statements run meanwhile`, async () => {
      const database = openDatabase({ url: log.database().url, maxConnections: connections });
      const eventStore = await openPostgresEventStore({ database });
      try {
        await log.append('acme');
        const { now, newId, key } = log.audit();
        const { dependencies } = await createAudit({
          database,
          eventStore,
          settings: { auditHmacKey: Buffer.from(key).toString('hex'), encryptionKey: undefined },
          now,
          newId,
        });
        const verdicts = Promise.all(Array.from({ length: 30 }, () => verifyAudit({ tenant: 'acme' }, dependencies)));
        expect(await database.query('select 1 as one')).to.deep.equal([{ one: 1 }]);
        expect((await verdicts).map(({ ok }) => ok)).to.deep.equal(Array.from({ length: 30 }, () => true));
      } finally {
        await eventStore.close();
        await database.close();
      }
    });
});
