import { expect } from 'chai';
import { createShutdown } from '../../../infrastructure/composition/create-shutdown.ts';
import { gate } from '../../support/gate.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

describe('the shutdown', () => {
  it('closes the part that was added last first, and closes each part once', async () => {
    const shutdown = createShutdown({ logger: recordingLogger() });
    const closed: string[] = [];
    for (const part of ['database', 'engine', 'listeners']) shutdown.add(() => void closed.push(part));
    await Promise.all([shutdown.closeAll(), shutdown.closeAll()]);
    expect(closed).to.deep.equal(['listeners', 'engine', 'database']);
  });

  it('aborts its signal before it closes the first part', async () => {
    const shutdown = createShutdown({ logger: recordingLogger() });
    let aborted = false;
    shutdown.add(() => {
      ({ aborted } = shutdown.signal);
    });
    expect(shutdown.signal.aborted).to.equal(false);
    await shutdown.closeAll();
    expect(aborted).to.equal(true);
  });

  it('stops a worker that is still starting once it has started', async () => {
    const shutdown = createShutdown({ logger: recordingLogger() });
    const started = gate<{ stop(): Promise<void> }>();
    let stopped = false;
    shutdown.addStarting('mail', started.opened);
    const closing = shutdown.closeAll();
    started.open({
      stop() {
        stopped = true;
        return Promise.resolve();
      },
    });
    await closing;
    expect(stopped).to.equal(true);
  });

  it('logs a worker that fails to start, and a part that fails to close, and closes the others', async () => {
    const logger = recordingLogger();
    const shutdown = createShutdown({ logger });
    let closed = false;
    shutdown.add(() => {
      closed = true;
    });
    shutdown.add(() => Promise.reject(new Error('broken')));
    shutdown.addStarting('relay', Promise.reject(new Error('no broker')));
    await Promise.resolve();
    await shutdown.closeAll();
    expect(closed).to.equal(true);
    expect(logger.lines).to.deep.equal([
      { level: 'error', message: 'a worker failed to start', fields: { worker: 'relay', reason: 'Error: no broker' } },
      { level: 'warn', message: 'a part of the service failed to close', fields: { reason: 'Error: broken' } },
    ]);
  });
});
