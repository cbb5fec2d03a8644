import { expect } from 'chai';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Outbound, OutboundRequest } from '../../../application/ports/outbound.ts';
import { openOutbound } from '../../../infrastructure/outbound/outbound.ts';
import { RedirectError, nextHop } from '../../../infrastructure/outbound/redirect.ts';
import { type Answerer, type WebhookReceiver, startReceiver } from '../../support/webhook-receiver.ts';

const SIGNED = { 'X-Webhook-Signature': 'sha256=00', Authorization: 'Bearer customer' };

describe('the outbound client', () => {
  let outbound: Outbound;
  let receiver: WebhookReceiver;
  const others: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    outbound = openOutbound({ allowedPrivateNetworks: ['127.0.0.0/8'], lookupCacheMs: 0 });
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await Promise.all([outbound.close(), receiver.close(), ...others.splice(0).map((other) => other.close())]);
  });

  const post = (extra: Partial<OutboundRequest> = {}) =>
    outbound.send({
      method: 'POST',
      url: `${receiver.url}/hook`,
      headers: { 'Content-Type': 'application/json', 'X-Webhook-Event': 'test' },
      originHeaders: SIGNED,
      body: '{"a":1}',
      timeoutMs: 2_000,
      ...extra,
    });
  const redirectTo =
    (location: string, status = 302): Answerer =>
    (_request, response) =>
      response.writeHead(status, { location }).end();
  async function other(answer?: Answerer): Promise<WebhookReceiver> {
    const opened = await startReceiver(answer ? { answer } : {});
    others.push(opened);
    return opened;
  }
  /** Starts a server that writes raw bytes. @returns its URL */
  async function startRawServer(talk: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        talk(socket);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    others.push({
      close: async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  it('sends method, body and headers to an endpoint in an allowed network', async () => {
    expect(await post()).to.include({ kind: 'answered', status: 200, redirects: 0 });
    expect(receiver.requests[0]).to.deep.include({ method: 'POST', path: '/hook', body: '{"a":1}' });
    expect(receiver.requests[0]!.headers).to.include({
      'content-type': 'application/json',
      'x-webhook-signature': 'sha256=00',
    });
  });

  describe('DNS rebinding', () => {
    it('is refused when a name is public on save and private on sending', async () => {
      const answers = [['93.184.216.34'], ['127.0.0.1']];
      const rebound = openOutbound({
        lookup: () => Promise.resolve(answers.shift() ?? ['127.0.0.1']),
        lookupCacheMs: 0,
      });
      const url = `http://rebind.test:${receiver.port}/`;
      expect(await rebound.check(url)).to.equal(undefined);
      expect(await rebound.send({ method: 'POST', url, headers: {}, body: '' })).to.include({
        kind: 'refused',
        error: 'address not allowed',
      });
      expect(receiver.requests).to.have.length(0);
      await rebound.close();
    });

    it('is refused when a name becomes private between the check and the connection', async () => {
      const answers = [['93.184.216.34'], ['127.0.0.1']];
      const rebound = openOutbound({
        lookup: () => Promise.resolve(answers.shift() ?? ['127.0.0.1']),
        lookupCacheMs: 0,
      });
      expect(
        await rebound.send({ method: 'POST', url: `http://rebind.test:${receiver.port}/`, headers: {}, body: '' }),
      ).to.include({ kind: 'refused' });
      expect(answers).to.have.length(0);
      expect(receiver.requests).to.have.length(0);
      await rebound.close();
    });

    it('is prevented by connecting to the checked addresses only', async () => {
      let lookups = 0;
      const pinned = openOutbound({
        allowedPrivateNetworks: ['127.0.0.1'],
        lookup: () => {
          lookups += 1;
          return Promise.resolve(['127.0.0.1']);
        },
      });
      const url = `http://pinned.test:${receiver.port}/`;
      expect(await pinned.send({ method: 'POST', url, headers: {}, body: '{}' })).to.include({
        kind: 'answered',
        status: 200,
      });
      expect(receiver.requests[0]!.headers.host).to.equal(`pinned.test:${receiver.port}`);
      expect(lookups).to.equal(1);
      await pinned.close();
    });

    it('is refused on a later attempt, also with a pooled connection', async () => {
      let answer = ['127.0.0.1'];
      const rebound = openOutbound({
        allowedPrivateNetworks: ['127.0.0.1'],
        lookup: () => Promise.resolve(answer),
        lookupCacheMs: 0,
      });
      const request = { method: 'POST', url: `http://rebind.test:${receiver.port}/`, headers: {}, body: '' } as const;
      expect(await rebound.send(request)).to.include({ kind: 'answered' });
      answer = ['127.0.0.2'];
      expect(await rebound.send(request)).to.include({ kind: 'refused' });
      expect(receiver.requests).to.have.length(1);
      await rebound.close();
    });
  });

  describe('redirects', () => {
    for (const location of [
      'http://169.254.169.254/',
      'http://[::ffff:a00:1]/',
      '//10.0.0.1/',
      'http://0xa000001/',
      'file:///etc/passwd',
      'http://u:p@127.0.0.1/',
      'http://localhost.localdomain/',
    ]) {
      it(`are refused to ${location}`, async () => {
        receiver.answer(redirectTo(location));
        expect(await post()).to.include({ kind: 'refused', error: 'address not allowed' });
        expect(receiver.requests).to.have.length(1);
      });
    }

    it('are refused to a loopback address that is not allowed', async () => {
      const narrow = openOutbound({ allowedPrivateNetworks: ['127.0.0.1'] });
      receiver.answer(redirectTo(`http://127.0.0.2:${receiver.port}/`));
      expect(await narrow.send({ method: 'POST', url: receiver.url, headers: {}, body: '' })).to.include({
        kind: 'refused',
      });
      await narrow.close();
    });

    it('are followed three times', async () => {
      receiver.answer((request, response, count) => {
        if (count <= 3) redirectTo(`/hop${count}`, 307)(request, response, count);
        else response.writeHead(204).end();
      });
      expect(await post()).to.include({ kind: 'answered', status: 204, redirects: 3 });
    });

    it('fail at the fourth one, for example in a loop', async () => {
      receiver.answer(redirectTo('/hook', 307));
      expect(await post()).to.include({ kind: 'failed', error: 'too many redirects' });
      expect(receiver.requests).to.have.length(4);
    });

    for (const status of [301, 302, 303]) {
      it(`with status ${status} are followed as GET without a body`, async () => {
        receiver.answer((request, response, count) => {
          if (count === 1) redirectTo('/next', status)(request, response, count);
          else response.writeHead(200).end();
        });
        await post();
        expect(receiver.requests[1]).to.deep.include({ method: 'GET', path: '/next', body: '' });
        expect(receiver.requests[1]!.headers).not.to.have.any.keys('content-type', 'content-length');
      });
    }

    for (const status of [307, 308]) {
      it(`with status ${status} repeat method and body, without signature and extra headers for another origin`, async () => {
        const elsewhere = await other();
        receiver.answer(redirectTo(`${elsewhere.url}/next`, status));
        expect(await post()).to.include({ kind: 'answered', status: 200, redirects: 1 });
        expect(elsewhere.requests[0]).to.deep.include({ method: 'POST', body: '{"a":1}' });
        expect(elsewhere.requests[0]!.headers).not.to.have.any.keys('x-webhook-signature', 'authorization');
        expect(elsewhere.requests[0]!.headers).to.include({
          'x-webhook-event': 'test',
          'content-type': 'application/json',
        });
      });
    }

    it('are refused from https to http', () => {
      const hop = { url: 'https://a.test/x', method: 'POST', body: '{}' } as const;
      expect(() => nextHop(hop, 307, 'http://a.test/x')).to.throw(RedirectError, 'redirect from https to http');
      expect(nextHop(hop, 307, '/y#z')).to.deep.equal({ url: 'https://a.test/y', method: 'POST', body: '{}' });
      expect(nextHop({ ...hop, url: 'http://a.test/x' }, 302, 'https://b.test/')).to.deep.equal({
        url: 'https://b.test/',
        method: 'GET',
        body: undefined,
      });
    });

    it('without a location are the final response', async () => {
      receiver.answer((_request, response) => response.writeHead(302).end());
      expect(await post()).to.include({ kind: 'answered', status: 302 });
    });
  });

  describe('slow responses', () => {
    it('fail at the deadline when no header arrives', async () => {
      receiver.answer(() => undefined);
      const outcome = await post({ timeoutMs: 150 });
      expect(outcome).to.include({ kind: 'failed', error: 'timeout' });
      expect(outcome.durationMs).to.be.at.least(100);
    });

    it('fail at the deadline while the body arrives slowly', async () => {
      receiver.answer((_request, response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => {
          clearInterval(drip);
        });
      });
      expect(await post({ timeoutMs: 150 })).to.include({ kind: 'failed', error: 'timeout' });
    });

    it('fail at one deadline for all redirects together', async () => {
      receiver.answer((request, response, count) =>
        setTimeout(() => {
          redirectTo('/again', 307)(request, response, count);
        }, 80),
      );
      // A deadline for each hop would end with another error: too many redirects.
      expect(await post({ timeoutMs: 200 })).to.include({ kind: 'failed', error: 'timeout' });
    });

    it('fail as a local error when the name lookup times out', async () => {
      const stuck = openOutbound({ lookup: () => new Promise(() => undefined), lookupTimeoutMs: 50 });
      expect(await stuck.send({ method: 'POST', url: 'http://public.test/', headers: {}, body: '' })).to.include({
        kind: 'local_fault',
        error: 'name lookup timed out',
      });
      await stuck.close();
    });

    it('end at once when the caller aborts', async () => {
      receiver.answer(() => undefined);
      const controller = new AbortController();
      const sending = post({ signal: controller.signal });
      await receiver.waitFor(1);
      controller.abort();
      expect(await sending).to.include({ kind: 'local_fault', error: 'stopped' });
    });
  });

  describe('large responses', () => {
    it('are truncated at the limit and keep their status', async () => {
      receiver.answer((_request, response) => {
        response.writeHead(200);
        const chunk = Buffer.alloc(65_536, 'x');
        const pour = () => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', pour);
        pour();
      });
      const outcome = await post({ maxResponseBytes: 1_000 });
      expect(outcome).to.include({ kind: 'answered', status: 200, truncated: true });
      expect(outcome.kind === 'answered' && outcome.body.length).to.equal(1_000);
    });

    it('are not decompressed', async () => {
      const bomb = gzipSync(Buffer.alloc(10_000_000));
      receiver.answer((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
      const outcome = await post();
      expect(outcome).to.include({ kind: 'answered', status: 200 });
      expect(outcome.kind === 'answered' && outcome.body.length).to.be.below(bomb.length + 1);
      expect(receiver.requests[0]!.headers).not.to.have.property('accept-encoding');
    });
  });

  describe('protocol abuse', () => {
    const abuses: readonly [string, (socket: Socket) => void][] = [
      [
        'an upgrade that was not requested',
        (socket) =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
      ],
      ['HTTP/0.9', (socket) => socket.end('<html>hello</html>')],
      ['many 100 Continue responses', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100))],
      ['a header of 1 MB', (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(1_048_576)}\r\n\r\n`)],
      [
        'two content lengths',
        (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      ],
      ['a body that ends too early', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab')],
      ['a connection closed without a response', (socket) => socket.destroy()],
    ];
    for (const [name, talk] of abuses) {
      it(`fails the request for ${name}`, async () => {
        const outcome = await post({ url: await startRawServer(talk), timeoutMs: 1_000 });
        expect(outcome.kind).to.equal('failed');
        expect(outcome.kind === 'failed' && outcome.error).not.to.match(/127\.0\.0\.1/);
      });
    }

    it('fails the request for a refused connection', async () => {
      await receiver.close();
      expect(await post()).to.include({ kind: 'failed', error: 'connection refused' });
      receiver = await startReceiver();
    });
  });

  it('does not send framing headers of the caller', async () => {
    const outcome = await post({
      originHeaders: {
        Host: 'evil.test',
        'Content-Length': '1',
        'Transfer-Encoding': 'chunked',
        Connection: 'upgrade',
        Upgrade: 'x',
      },
    });
    expect(outcome).to.include({ kind: 'answered', status: 200 });
    expect(receiver.requests[0]!.headers.host).to.equal(`127.0.0.1:${receiver.port}`);
    expect(receiver.requests[0]!.body).to.equal('{"a":1}');
    expect(receiver.requests[0]!.headers).not.to.have.any.keys('upgrade', 'transfer-encoding');
  });

  it('does not send a request with a line break in a header value', async () => {
    const outcome = await post({ originHeaders: { 'X-A': 'b\r\nX-Injected: 1' } });
    expect(outcome.kind).to.equal('failed');
    expect(receiver.requests).to.have.length(0);
  });

  it('ignores proxy variables of the environment', async () => {
    const proxy = await other();
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: proxy.url,
      http_proxy: proxy.url,
      ALL_PROXY: proxy.url,
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      expect(await post()).to.include({ kind: 'answered' });
    } finally {
      for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
        if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = before[name];
      }
    }
    expect(proxy.requests).to.have.length(0);
    expect(receiver.requests).to.have.length(1);
  });
});
