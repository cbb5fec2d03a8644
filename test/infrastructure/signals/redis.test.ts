import { randomUUID } from 'node:crypto';
import { openRedisSignals } from '../../../infrastructure/signals/redis.ts';
import { signalsContract } from '../../contract/signals.ts';

const url = process.env['TEST_REDIS_URL'];

describe('signals over Redis', () => {
  if (!url) {
    it.skip('runs with a real server only: TEST_REDIS_URL is unset');
    return;
  }

  signalsContract(async () => {
    const prefix = `test-${randomUUID()}`;
    const here = openRedisSignals({ url, prefix });
    const there = openRedisSignals({ url, prefix });
    await Promise.all([here.ready, there.ready]);
    return {
      here,
      there,
      async close() {
        await Promise.all([here.close(), there.close()]);
      },
    };
  });
});
