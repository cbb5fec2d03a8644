import { readFileSync, writeFileSync } from 'node:fs';
import { createRelay } from '../../../../application/platform/relay.ts';
import { openTestKafka } from '../../../support/kafka.ts';
import { recordedEvents } from '../../../support/recorded-events.ts';
import { relayAll } from '../../../support/relay.ts';

/**
 * A relay in a separate process. It sends the test's events from the checkpoint on and can be made to stop before it
 * moves the checkpoint.
 */
const [brokers = '', prefix = '', checkpointFile = '', stand = ''] = process.argv.slice(2);

const bus = await openTestKafka({ brokers });
const relay = createRelay({ bus, prefix, changeOf: () => Promise.resolve({}) });
const events = recordedEvents(60, 5);
for (let checkpoint = Number(readFileSync(checkpointFile, 'utf8')); checkpoint < events.length; checkpoint += 20) {
  await relayAll(events.slice(checkpoint, checkpoint + 20), relay);
  if (stand === String(checkpoint)) {
    console.log('sent');
    await new Promise(() => setInterval(() => undefined, 60_000));
  }
  writeFileSync(checkpointFile, String(checkpoint + 20));
}
await bus.close();
console.log('done');
