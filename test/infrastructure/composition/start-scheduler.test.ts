import { expect } from 'chai';
import { startScheduler } from '../../../infrastructure/composition/start-scheduler.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

describe('the scheduler', () => {
  it('waits for any number of sweeps without a warning of Node', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', onWarning);
    const scheduler = startScheduler({
      sweeps: Array.from({ length: 30 }, (_, n) => ({
        name: `sweep ${String(n)}`,
        everyMs: 3_600_000,
        run: () => Promise.resolve(0),
      })),
      logger: recordingLogger(),
    });
    await scheduler.stop();
    // Node emits warnings in the next tick.
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).to.deep.equal([]);
  });
});
