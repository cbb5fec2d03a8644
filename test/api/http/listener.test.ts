import { expect } from 'chai';
import { Agent, get as httpGet } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseListenAddress, startListener } from '../../../api/http/listener.ts';
import { route } from '../../../api/http/route.ts';
import { gate } from '../../support/gate.ts';
import { serve } from '../../support/serve-routes.ts';

describe('a listener', () => {
  it('finishes requests, refuses new connections and ends keep-alive connections when it closes', async () => {
    const inside = gate();
    const released = gate();
    const slow = route({
      api: 'admin',
      method: 'GET',
      path: '/slow',
      operation: 'slow',
      summary: 'Slow',
      tag: 'x',
      access: { kind: 'public' },
      responses: { 200: null },
      handler: async () => {
        inside.open();
        await released.opened;
        return { status: 200, body: 'done' };
      },
    });
    const { admin, content } = await serve([slow]);
    const agent = new Agent({ keepAlive: true });
    const answer = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      httpGet(`${admin.url}/slow`, { agent }, (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (data: string) => (text += data))
          .on('end', () => {
            resolve({ status: response.statusCode, text });
          });
      }).on('error', reject);
    });
    await inside.opened;
    const closed = admin.close({ deadlineMs: 3_600_000 });
    expect(
      await fetch(`${admin.url}/slow`).then(
        () => 'answered',
        () => 'refused',
      ),
    ).to.equal('refused');
    released.open();
    expect(await answer).to.deep.equal({ status: 200, text: '"done"' });
    await closed;
    agent.destroy();
    await content.close();
  });

  it('breaks the remaining connections at the deadline, and aborts the signals of their handlers', async () => {
    const inside = gate();
    const gone = gate();
    const stuck = route({
      api: 'admin',
      method: 'GET',
      path: '/stuck',
      operation: 'stuck',
      summary: 'Stuck',
      tag: 'x',
      access: { kind: 'public' },
      responses: { 200: null },
      handler: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            gone.open();
            reject(new Error('gone'));
          });
          inside.open();
        }),
    });
    const { admin, content } = await serve([stuck]);
    const answer = fetch(`${admin.url}/stuck`).then(
      () => 'answered',
      () => 'broken',
    );
    await inside.opened;
    await admin.close({ deadlineMs: 50 });
    expect(await answer).to.equal('broken');
    expect(await Promise.race([gone.opened.then(() => 'told'), pause(2_000)])).to.equal('told');
    await content.close();
  });

  it('refuses an address that is in use or invalid', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const app = () => undefined;
    expect(
      await startListener({ app, address: `127.0.0.1:${port}` }).then(
        () => 'listens',
        (error: unknown) => String(error),
      ),
    ).to.contain('EADDRINUSE');
    taken.close();
    expect(() => parseListenAddress('nowhere')).to.throw('host:port');
    expect(() => parseListenAddress('0.0.0.0:70000')).to.throw('host:port');
    expect(parseListenAddress('[::1]:3001')).to.deep.equal({ host: '::1', port: 3001 });
    expect(parseListenAddress(':3001')).to.deep.equal({ host: '0.0.0.0', port: 3001 });
  });
});
