import { expect } from 'chai';
import { connect } from 'node:net';
import { eventually } from '../../support/eventually.ts';
import { bodyOf, useServed } from '../../support/serve-routes.ts';
import { thingRoutes } from './thing-routes.ts';

const UNSUPPORTED = 'unsupported media type, expected application/json or multipart/form-data';

describe('hostile input', () => {
  const served = useServed(thingRoutes());
  const post = async (body: string | Uint8Array, headers: Record<string, string> = {}, path = '/api/admin/things') => {
    const response = await fetch(served().admin.url + path, {
      method: 'POST',
      body,
      headers: { Authorization: 'Bearer admin', 'Content-Type': 'application/json', ...headers },
    });
    return { status: response.status, body: await bodyOf(response) };
  };
  /** Sends raw bytes and reads until the server closes the connection. */
  const raw = (request: string) =>
    new Promise<string>((resolve, reject) => {
      let answer = '';
      const socket = connect(served().admin.port, '127.0.0.1', () => socket.write(request));
      socket.setEncoding('latin1').on('data', (data: string) => (answer += data));
      socket.on('error', reject).on('close', () => {
        resolve(answer);
      });
    });
  const get = (path: string) =>
    raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nConnection: close\r\n\r\n`);

  afterEach('the service goes on', async () => {
    expect((await fetch(`${served().admin.url}/api/admin/public`)).status).to.equal(200);
  });

  it('answers 400 `invalid JSON body` to text that is not JSON', async () => {
    for (const body of ['{', 'null x', '{"a":1,}', "{'a':1}", '\ufeff{}', new Uint8Array([0x22, 0xff, 0xfe, 0x22])]) {
      const answer = await post(body);
      expect([answer.status, answer.body.error]).to.deep.equal([400, 'invalid JSON body']);
    }
  });
  it("uses the route's own message where it has one", async () => {
    expect((await post('{', {}, '/api/admin/optional')).body.error).to.equal('invalid JSON');
  });
  it('refuses an empty body where it is required, and accepts it where it is optional', async () => {
    const empty = await post('');
    expect([empty.status, empty.body.error]).to.deep.equal([400, 'invalid JSON body']);
    expect((await post('', {}, '/api/admin/optional')).status).to.equal(200);
  });
  it('answers 422 with every invalid field of a body', async () => {
    const { status, body } = await post('{"name":"","size":"big","unknown":1}');
    expect([status, body.error]).to.deep.equal([422, 'validation failed']);
    expect(body.fields.map(({ field }) => field)).to.have.members(['name', 'size', 'unknown']);
    expect((await post('[]')).status).to.equal(422);
    expect((await post('"text"')).status).to.equal(422);
  });
  it('refuses `__proto__` in any spelling, and does not change prototypes', async () => {
    for (const body of [
      '{"__proto__":{"polluted":true},"name":"a"}',
      '{"name":"a","more":{"\\u005f_proto__":{"polluted":true}}}',
    ]) {
      expect((await post(body)).status).to.equal(400);
    }
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });
  it('refuses nesting that would exhaust the stack', async () => {
    for (const depth of [65, 1_000, 400_000])
      expect((await post(`{"name":"a","more":${'['.repeat(depth)}${']'.repeat(depth)}}`)).status).to.equal(400);
    expect((await post(`{"name":"a","more":${'['.repeat(60)}${']'.repeat(60)}}`)).status).to.equal(201);
  });
  it('refuses text that the database cannot store, and names the field', async () => {
    for (const text of ['\\u0000', '\\ud800']) {
      const { status, body } = await post(`{"name":"a","more":{"b":["${text}"]}}`);
      expect([status, body.fields[0]?.field]).to.deep.equal([422, 'more.b.0']);
    }
  });
  it('answers 413 to a body over the limit, declared or chunked', async () => {
    const big = JSON.stringify({ name: 'x'.repeat(10_485_760) });
    expect((await post(big)).status).to.equal(413);
    const chunks = new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < 160; sent += 1) controller.enqueue(new Uint8Array(65_536).fill(0x20));
        controller.close();
      },
    });
    const response = await fetch(`${served().admin.url}/api/admin/things`, {
      method: 'POST',
      body: chunks,
      duplex: 'half',
      headers: { Authorization: 'Bearer admin', 'Content-Type': 'application/json' },
    });
    expect(response.status).to.equal(413);
  });
  it('answers 413 to `Expect: 100-continue` without requesting the body, and requests an acceptable one', async () => {
    const head = (length: number) =>
      `POST /api/admin/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
    expect(await raw(head(99_000_000))).to.match(/^HTTP\/1\.1 413 /);
    const taken = await raw(`${head(12)}{"name":"a"}`);
    expect(taken).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    expect(await raw(head(12).replace('100-continue', 'miracles'))).to.match(
      /^HTTP\/1\.1 417 [^]*"expectation_failed"/,
    );
  });
  it('answers 415 with the exact message to another content type, charset or encoding', async () => {
    for (const headers of [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/json; charset=utf-16' },
      { 'Content-Type': 'application/jsonx' },
      { 'Content-Encoding': 'gzip' },
    ]) {
      const { status, body } = await post('{"name":"a"}', headers);
      expect([status, body.error]).to.deep.equal([415, UNSUPPORTED]);
    }
    expect((await post('{"name":"a"}', { 'Content-Type': 'Application/JSON; charset="UTF-8"' })).status).to.equal(201);
  });
  it('passes bytes to a route that accepts their type', async () => {
    expect((await post('a,b', { 'Content-Type': 'text/csv' }, '/api/admin/csv')).body).to.deep.equal({ bytes: 3 });
    expect((await post('{}', {}, '/api/admin/csv')).status).to.equal(415);
  });
  it('refuses 10,000 query parameters, and 201', async () => {
    expect(await get(`/api/admin/things?${'a=1&'.repeat(10_000)}`)).to.match(
      /^HTTP\/1\.1 431 [^]*"request headers too large"/,
    );
    expect(await get(`/api/admin/things?${'a=1&'.repeat(201)}`)).to.match(
      /^HTTP\/1\.1 400 [^]*"invalid query parameter/,
    );
    expect(
      await get(`/api/admin/things?${Array.from({ length: 250 }, (_, at) => `filters[a][]=${at}`).join('&')}`),
    ).to.match(/^HTTP\/1\.1 400 /);
  });
  it('refuses queries that nest too deep, address prototypes or are badly encoded', async () => {
    for (const query of [
      'filters[a][b][c][d][e][f][g]=1',
      '__proto__[x]=1',
      'filters[__proto__][x]=1',
      'filters[constructor][prototype][x]=1',
      'filters%5B__pro%74o__%5D=1',
      'limit=%',
      'filters[a]=%00',
      'filters[a]=%ff',
      'filters%00=1',
    ]) {
      expect(await get(`/api/admin/things?${query}`), query).to.match(/^HTTP\/1\.1 400 [^]*"invalid query parameter/);
    }
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
  });
  it('answers 4xx to paths that are badly encoded or contain a NUL', async () => {
    expect(await get('/api/admin/things/%')).to.match(/^HTTP\/1\.1 400 /);
    expect(await get('/api/admin/things/%c0%af')).to.match(/^HTTP\/1\.1 400 /);
    expect(await get('/api/admin/checked/%00')).to.match(/^HTTP\/1\.1 405 /);
    expect(await get('/api/admin/things/%00')).to.match(/^HTTP\/1\.1 404 /);
    expect(await get('/api/admin/things/../public')).to.match(/^HTTP\/1\.1 404 /);
    expect(await get(`/${'a/'.repeat(4_000)}`)).to.match(/^HTTP\/1\.1 404 /);
  });
  it('releases a client that disconnects in the middle of a body', async () => {
    const before = served().requests.length;
    const socket = connect(served().admin.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      'POST /api/admin/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":',
      () => {
        setImmediate(() => socket.destroy());
      },
    );
    await eventually(() => {
      expect(served().requests.slice(before)).to.include('admin POST /api/admin/things 400');
    });
  });
  it('serves the absolute form of a request target', async () => {
    expect(await get('http://x/api/admin/public')).to.match(/^HTTP\/1\.1 200 /);
  });
  it('answers input that is not HTTP, and headers that are too large, with JSON', async () => {
    expect(await raw('hello\r\n\r\n')).to.match(/^HTTP\/1\.1 400 [^]*X-Request-Id: [^]*\{"error":"bad request"/);
    expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`)).to.match(/^HTTP\/1\.1 431 /);
  });
});
