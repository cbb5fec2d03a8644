import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { openLog } from '../../support/open-log.ts';
import { createTestEngine } from '../../support/test-engine.ts';
import { note, notes } from './notes.ts';

/**
 * A projector in a separate process, for tests that kill or suspend it. Arguments: `<database url> <events> <ttl ms>`.
 */
const [url = '', events = '0', ttlMs = '1000'] = process.argv.slice(2);
const database = openDatabase({ url, maxConnections: 5 });
const log = openLog();
log.append(...Array.from({ length: Number(events) }, (_, n) => note(n % 50, `title ${String(n)}`)));
const engine = createTestEngine({
  database,
  eventStore: log.eventStore,
  projections: [notes({ before: () => pause(4) })],
  ttlMs: Number(ttlMs),
  maxBatch: 10,
});
await engine.prepare();
engine.start();
process.on('SIGTERM', () => {
  void engine
    .stop()
    .then(() => database.close())
    .then(() => process.exit(0));
});
