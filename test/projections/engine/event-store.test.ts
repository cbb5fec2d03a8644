import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { NewEvent } from '../../../domain/event.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { openPostgresEventStore } from '../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { rebuild } from '../../../projections/engine/rebuild.ts';
import { replay } from '../../../projections/engine/replay.ts';
import { useDatabase } from '../../support/database.ts';
import { createTestEngine } from '../../support/test-engine.ts';
import { testMetadata } from '../../support/test-metadata.ts';
import { notes } from './notes.ts';

const stores = {
  memory: () => Promise.resolve(openMemoryEventStore()),
  postgres: (database: Parameters<typeof openPostgresEventStore>[0]['database']) =>
    openPostgresEventStore({ database }),
};

for (const [kind, openStore] of Object.entries(stores)) {
  describe(`read models over the event store (${kind})`, () => {
    const database = useDatabase();
    const elsewhere = useDatabase();

    function change(n: number): NewEvent {
      return {
        id: randomUUID(),
        type: 'NoteTitled',
        data: { note: n, title: `title ${String(n)}` },
        metadata: testMetadata(),
      };
    }

    it('show every append at its position under concurrent writes, and rebuild and replay produce the same rows', async function () {
      this.timeout(60_000);
      const db = database.db();
      const store: EventStore = await openStore(db);
      const engine = createTestEngine({ database: db, eventStore: store, projections: [notes()], ttlMs: 10_000 });
      await engine.prepare();
      engine.start();
      try {
        await Promise.all(
          Array.from({ length: 20 }, async (_, writer) => {
            for (let n = 0; n < 10; n += 1) {
              const note = writer * 100 + n;
              const { position } = await store.append(`entry-default.${String(note)}`, [change(note), change(note)], {
                expected: 'no_stream',
              });
              await store.append(`media-default.${String(note)}`, [change(note)], { expected: 'no_stream' });
              expect(await engine.progress.waitFor(['notes'], position, 10_000)).to.equal(true);
              expect(await db.query('select changes from rm_notes.notes where note = $1', [note])).to.deep.equal([
                { changes: 2 },
              ]);
            }
          }),
        );
        expect(await engine.progress.waitFor(['notes'], await store.head(), 10_000)).to.equal(true);

        const leases = createLeases({ database: db, owner: randomUUID() });
        const rebuilt = await rebuild({ database: db, eventStore: store, projection: notes(), leases });
        expect(rebuilt.outcome).to.equal('equal');
        expect(rebuilt.tables.map(({ rows }) => rows)).to.deep.equal([200, 1]);
        const replayed = await replay({ to: elsewhere.db(), eventStore: store, projections: [notes()] });
        expect(replayed).to.include({ events: 400, position: await store.head() });
        expect(replayed.tables).to.deep.equal(rebuilt.tables.map((table) => ({ ...table, projection: 'notes' })));
      } finally {
        await engine.stop();
        await store.close();
      }
    });
  });
}
