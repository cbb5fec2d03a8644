import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { once } from 'node:events';
import { type IncomingMessage, get as httpGet, request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { openApiDocument } from '../../../api/http/openapi.ts';
import { type Route, type RouteResponse, route } from '../../../api/http/route.ts';
import { eventually } from '../../support/eventually.ts';
import { gate } from '../../support/gate.ts';
import { serve } from '../../support/serve-routes.ts';

/** What the source of one response observed. */
type Fate = { asked: number; returned: number; aborted: boolean };

describe('a streamed response', () => {
  const fate: Record<string, Fate> = {};
  let released = gate();
  let credentialGood = true;

  function streaming(
    name: string,
    answer: (signal: AbortSignal, recheck: () => Promise<unknown>) => AsyncIterable<string | Uint8Array>,
    more: Partial<RouteResponse> = {},
  ): Route {
    return route({
      api: 'content',
      method: 'GET',
      path: `/api/v1/things/${name}`,
      operation: name,
      summary: 'A stream',
      tag: 'x',
      access: { kind: 'credential' },
      responses: { 200: null },
      streamed: 'text/plain',
      handler: ({ signal, recheck }) => {
        const seen: Fate = (fate[name] = { asked: 0, returned: 0, aborted: false });
        signal.addEventListener('abort', () => (seen.aborted = true));
        const iterator = answer(signal, recheck)[Symbol.asyncIterator]();
        const stream: AsyncIterable<string | Uint8Array> = {
          [Symbol.asyncIterator]: () => ({
            next: () => {
              seen.asked += 1;
              return iterator.next();
            },
            return: async () => {
              seen.returned += 1;
              await iterator.return?.();
              return { done: true, value: undefined };
            },
          }),
        };
        return Promise.resolve({ status: 200, stream, headers: { 'Content-Type': 'text/plain' }, ...more });
      },
    });
  }

  async function* three(): AsyncIterable<string | Uint8Array> {
    yield 'ä';
    await pause(1);
    yield Buffer.from('b');
    yield 'c';
  }
  async function* failing(): AsyncIterable<string> {
    yield 'a';
    await pause(1);
    throw new Error('the source broke');
  }
  async function* huge(): AsyncIterable<string> {
    for (let at = 0; at < 10_000; at += 1) yield await Promise.resolve('x'.repeat(100_000));
  }
  /** Waits until the test releases it. Ignores the signal. */
  async function* deaf(): AsyncIterable<string> {
    yield 'first';
    await released.opened;
    yield 'late';
  }
  async function* rechecking(_signal: AbortSignal, recheck: () => Promise<unknown>): AsyncIterable<string> {
    for (;;) {
      await recheck();
      yield '.';
      await pause(5);
    }
  }

  const routes = [
    streaming('three', three, { trailers: { names: ['X-Export-Status'], read: () => ({ 'X-Export-Status': 'ok' }) } }),
    streaming('failing', failing),
    streaming('huge', huge),
    streaming('endless', deaf, { endless: true }),
    streaming('finite', deaf),
    streaming('rechecking', rechecking, { endless: true }),
    streaming('badhead', three, { headers: { 'X-Bad': 'a\r\nb' } }),
  ];
  let served: Awaited<ReturnType<typeof serve>>;
  const headers = { 'x-api-key': 'svc_reader' };
  beforeEach(async () => {
    credentialGood = true;
    released = gate();
    served = await serve(
      routes,
      {},
      {
        authenticate: () =>
          credentialGood
            ? {
                kind: 'api_key',
                keyId: 'k1',
                tenant: 'acme',
                roles: [],
                scopes: ['things:read'],
                schemas: [],
                monthlyLimit: 0,
              }
            : { kind: 'refused_key', keyId: 'k1', tenant: 'acme' },
      },
    );
  });
  afterEach(async () => {
    released.open();
    await Promise.all([served.admin.close({ deadlineMs: 100 }), served.content.close({ deadlineMs: 100 })]);
  });
  const url = (name: string) => `${served.content.url}/api/v1/things/${name}`;
  const open = async (name: string): Promise<IncomingMessage> => {
    const request = httpGet(url(name), { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };

  it('sends text and bytes as they arrive, then its trailers, and is recorded at the end with its size', async () => {
    const response = await open('three');
    expect(response.headers).to.include({
      'transfer-encoding': 'chunked',
      trailer: 'X-Export-Status',
      'content-type': 'text/plain',
      'cache-control': 'private, no-cache',
    });
    const text = (await response.setEncoding('utf8').toArray()).join('');
    expect(text).to.equal('äbc');
    expect(response.trailers).to.deep.equal({ 'x-export-status': 'ok' });
    await eventually(() => {
      expect(served.keyRequests.map(({ status, bytesOut }) => [status, bytesOut])).to.deep.equal([[200, 4]]);
    });
    expect(served.requests).to.deep.equal(['content GET /api/v1/things/three 200']);
    expect(fate['three']).to.include({ returned: 1 });
  });

  it('sends only the head for HEAD, and closes the iterator without reading it', async () => {
    const request = httpRequest(url('three'), { method: 'HEAD', headers }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).to.equal(200);
    expect(response.headers['content-type']).to.equal('text/plain');
    expect((await response.toArray()).length).to.equal(0);
    await eventually(() => {
      expect(fate['three']).to.include({ asked: 0, returned: 1 });
    });
  });

  it('breaks the connection when a piece fails, and logs the error', async () => {
    const response = await open('failing');
    const outcome = await response.toArray().then(
      () => 'ended',
      () => 'broken',
    );
    expect(outcome).to.equal('broken');
    await eventually(() => {
      expect(served.logs.some(({ level, message }) => level === 'error' && message === 'a request failed')).to.equal(
        true,
      );
    });
    expect(fate['failing']).to.include({ returned: 1 });
  });

  it('reads pieces only as fast as the client, and ends when the client disconnects', async () => {
    const response = await open('huge');
    response.pause();
    await eventually(() => {
      expect(fate['huge']?.asked).to.be.greaterThan(1);
    });
    let before = -1;
    await eventually(
      () => {
        const now = fate['huge']?.asked ?? 0;
        const still = now === before;
        before = now;
        expect(still).to.equal(true);
      },
      { everyMs: 100 },
    );
    expect(before).to.be.lessThan(1_000);
    response.destroy();
    await eventually(() => {
      expect(fate['huge']).to.include({ returned: 1, aborted: true });
    });
  });

  it('ends properly when the service stops, long before the deadline, if it is endless, also while its source is busy', async () => {
    const response = await open('endless');
    const all = response.setEncoding('utf8').toArray();
    await eventually(() => {
      expect(fate['endless']?.asked).to.equal(2);
    });
    await served.content.close({ deadlineMs: 3_600_000 });
    expect((await all).join('')).to.equal('first');
    expect(fate['endless']).to.include({ returned: 1, aborted: true });
  });

  it('finishes before the service stops, if it is not endless', async () => {
    const response = await open('finite');
    const all = response.setEncoding('utf8').toArray();
    await eventually(() => {
      expect(fate['finite']?.asked).to.equal(2);
    });
    const closed = served.content.close({ deadlineMs: 10_000 });
    released.open();
    expect((await all).join('')).to.equal('firstlate');
    await closed;
  });

  it('can check its credential again while it is sent', async () => {
    const response = await open('rechecking');
    const over = response.toArray().then(
      () => 'ended',
      () => 'broken',
    );
    await eventually(() => {
      expect(fate['rechecking']?.asked).to.be.greaterThan(2);
    });
    credentialGood = false;
    expect(await over).to.equal('broken');
  });

  it('answers an error, and closes the iterator, when its head cannot be sent', async () => {
    const response = await open('badhead');
    expect(response.statusCode).to.equal(500);
    await response.toArray();
    await eventually(() => {
      expect(fate['badhead']).to.include({ asked: 0, returned: 1 });
    });
  });

  it('is described in the OpenAPI document', () => {
    const declared = route({
      api: 'content',
      method: 'GET',
      path: '/x',
      operation: 'x',
      summary: 'X',
      tag: 'x',
      access: { kind: 'public' },
      responses: { 200: Type.Object({}) },
      streamed: 'text/event-stream',
      handler: () => Promise.resolve({ status: 200 }),
    });
    expect(JSON.stringify(openApiDocument([declared], { title: 't', version: '1' }))).to.contain(
      '"text/event-stream":{"schema":{"type":"string"}}',
    );
  });
});
