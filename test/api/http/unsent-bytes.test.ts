import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { type Route, route } from '../../../api/http/route.ts';
import { createUnsentBytes } from '../../../api/http/unsent-bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { useServed } from '../../support/serve-routes.ts';

const MEBIBYTE = 1_048_576;
/** More than the buffers of a connection hold. */
const SIZE = 16 * MEBIBYTE;

const common = {
  api: 'content',
  path: '/api/v1/things',
  summary: 'A large response',
  tag: 'x',
  access: { kind: 'credential' },
  responses: { 200: Type.Object({ text: Type.String() }) },
} as const;
const json = JSON.stringify({ text: 'x'.repeat(SIZE) });
const handler = () => Promise.resolve({ status: 200, json });
const routes: readonly Route[] = [
  route({ ...common, method: 'GET', operation: 'readLarge', handler }),
  route({ ...common, method: 'POST', operation: 'writeLarge', handler }),
  route({
    ...common,
    method: 'GET',
    path: '/api/v1/things/small',
    operation: 'readSmall',
    handler: () => Promise.resolve({ status: 200, json: '{"text":""}' }),
  }),
];

describe('responses that clients do not read', () => {
  const served = useServed(routes, {}, { unsent: createUnsentBytes({ perTenant: 40 * MEBIBYTE }) });
  const stalling = useServed(routes, {}, { unsent: createUnsentBytes({ perTenant: 20 * MEBIBYTE, stallMs: 50 }) });
  const full = useServed(routes, {}, { unsent: createUnsentBytes({ perListener: 20 * MEBIBYTE }) });
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Requests a large response and reads no more than its first bytes. */
  async function requestAndStall(port: number): Promise<void> {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('GET /api/v1/things HTTP/1.1\r\nHost: localhost\r\nX-API-Key: svc_reader\r\n\r\n');
    await once(socket, 'readable');
  }

  async function get(url: string, headers: Record<string, string>, method = 'GET', path = '/api/v1/things') {
    const response = await fetch(`${url}${path}`, { method, headers });
    const text = await response.text();
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
  }
  const OWN = { 'x-api-key': 'svc_writer' };
  const OTHER = { authorization: 'Bearer admin' };

  it('are limited for each tenant', async () => {
    const { content } = served();
    await requestAndStall(content.port);
    await requestAndStall(content.port);
    const refused = await get(content.url, OWN);
    expect(refused).to.include({ status: 503, retryAfter: '1' });
    expect(JSON.parse(refused.text)).to.include({ code: 'unavailable' });
    expect(JSON.parse((await get(content.url, OWN, 'POST')).text)).to.include({ code: 'outcome_unknown' });
    expect(await get(content.url, OWN, 'GET', '/api/v1/things/small')).to.include({ status: 200 });
    expect((await get(content.url, OTHER)).text).to.have.length(json.length);
  });

  it('no longer count when their connections end', async () => {
    const { content } = served();
    await requestAndStall(content.port);
    await requestAndStall(content.port);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => {
      expect(await get(content.url, OWN)).to.include({ status: 200 });
    });
  });

  it('are broken off when the client takes nothing', async () => {
    const { content } = stalling();
    await requestAndStall(content.port);
    await eventually(async () => {
      expect(await get(content.url, OWN)).to.include({ status: 200 });
    });
  });

  it('leave one response to every other tenant when the listener is full', async () => {
    const { content } = full();
    await requestAndStall(content.port);
    expect(await get(content.url, OWN)).to.include({ status: 503 });
    expect(await get(content.url, OTHER)).to.include({ status: 200 });
  });

  it('do not count when the client reads them', async () => {
    const { content } = served();
    for (let round = 0; round < 5; round += 1) expect(await get(content.url, OWN)).to.include({ status: 200 });
  });
});
