import { expect } from 'chai';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import type { Call } from '../support/http.ts';
import { useService } from '../support/service.ts';

describe('hostile input', () => {
  const service = useService();
  let key: Call;
  let id: string;

  before(async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [
        { name: 'title', field_type: 'text', required: true },
        { name: 'n', field_type: 'integer' },
        { name: 'j', field_type: 'json' },
      ],
    });
    key = await service.key({});
    id = (await key('POST', '/api/v1/content/note', { data: { title: 'kept' } })).json<{ id: string }>().id;
  });
  afterEach('the service keeps running', async () => {
    const read = await key('GET', `/api/v1/content/note/${id}`);
    expect([read.status, read.json<{ data: { title: string } }>().data.title]).to.deep.equal([200, 'kept']);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  const json = { 'content-type': 'application/json' };
  const refusals: readonly [title: string, status: number, send: () => ReturnType<Call>][] = [
    ['text that is not JSON', 400, () => key('POST', '/api/v1/content/note', '{"data": {', json)],
    ['an empty body', 400, () => key('POST', '/api/v1/content/note', '', json)],
    ['a body that is not an object', 422, () => key('POST', '/api/v1/content/note', '[1]', json)],
    ['another content type', 415, () => key('POST', '/api/v1/content/note', '<a/>', { 'content-type': 'text/xml' })],
    ['a value of the wrong type', 422, () => key('POST', '/api/v1/content/note', { data: { title: 7 } })],
    [
      'a number that is not an integer',
      422,
      () => key('POST', '/api/v1/content/note', { data: { title: 'x', n: 1.5 } }),
    ],
    ['a missing required field', 422, () => key('POST', '/api/v1/content/note', { data: {} })],
    ['an unknown field', 422, () => key('POST', '/api/v1/content/note', { data: { title: 'x', nope: 1 } })],
    ['a body of 10 MB', 413, () => key('POST', '/api/v1/content/note', { data: { title: 'x'.repeat(10_000_000) } })],
    [
      '10,000 query parameters',
      431,
      () => key('GET', `/api/v1/content/note?${Array.from({ length: 10_000 }, (_, n) => `p${n}=1`).join('&')}`),
    ],
    [
      'as many query parameters as a request line holds',
      400,
      () =>
        key(
          'GET',
          `/api/v1/content/note?${Array.from({ length: 10_000 }, (_, n) => `p${n}=1`)
            .join('&')
            .slice(0, 15_000)}`,
        ),
    ],
    ['a filter on a prototype key', 400, () => key('GET', '/api/v1/content/note?filters[__proto__][polluted]=1')],
    ['a filter with too many levels', 400, () => key('GET', `/api/v1/content/note?filters${'[a]'.repeat(30)}=1`)],
    ['an unknown filter field', 400, () => key('GET', '/api/v1/content/note?filters[nope]=1')],
    ['an unknown operator', 400, () => key('GET', '/api/v1/content/note?filters[title][$nope]=1')],
    [
      'SQL in a sort',
      400,
      () => key('GET', `/api/v1/content/note?sort=${encodeURIComponent('title;drop table note')}`),
    ],
    ['a limit out of range', 400, () => key('GET', '/api/v1/content/note?limit=201')],
    ['a broken cursor', 400, () => key('GET', '/api/v1/content/note/cursor?cursor=%00%01')],
    ['an id that is not a UUID', 404, () => key('GET', '/api/v1/content/note/1')],
    ['an id with SQL in it', 404, () => key('GET', `/api/v1/content/note/${encodeURIComponent("' or 1=1 --")}`)],
    ['a content type that does not exist', 404, () => key('GET', '/api/v1/content/nope')],
    [
      'a content type with a quote in its name',
      404,
      () => key('GET', `/api/v1/content/${encodeURIComponent('note"; drop schema rm_content cascade; --')}`),
    ],
    ['bad percent-encoding in the path', 400, () => key('GET', '/api/v1/content/%E0%A4%A')],
    ['an unknown path', 404, () => key('GET', '/api/v1/nowhere')],
    ['a method that the path does not support', 405, () => key('PATCH', `/api/v1/content/note/${id}`, { data: {} })],
    ['a method that the admin path does not support', 405, () => service.owner('PATCH', '/api/admin/schemas', {})],
    [
      'an unknown member beside data',
      422,
      () => key('POST', '/api/v1/content/note', { data: { title: 'x' }, extra: 1 }),
    ],
    [
      'an Idempotency-Key that is too long',
      400,
      () => key('POST', '/api/v1/content/note', { data: { title: 'x' } }, { 'idempotency-key': 'k'.repeat(256) }),
    ],
    [
      'a position that is none',
      400,
      () => key('GET', `/api/v1/content/note/${id}`, undefined, { 'x-min-position': 'soon' }),
    ],
    [
      'a field name of the prototype',
      422,
      () =>
        key(
          'POST',
          '/api/v1/content/note',
          '{"data": {"title": "x", "constructor": {"prototype": {"polluted": 1}}}}',
          json,
        ),
    ],
    ['NUL in text', 422, () => key('POST', '/api/v1/content/note', { data: { title: 'a\u0000b' } })],
    [
      'a lone surrogate in text',
      422,
      () => key('POST', '/api/v1/content/note', '{"data": {"title": "\\ud800"}}', json),
    ],
    [
      'NUL deep inside json',
      422,
      () => key('POST', '/api/v1/content/note', { data: { title: 'x', j: { deep: ['a\u0000b'] } } }),
    ],
  ];
  for (const [title, status, send] of refusals) {
    it(`answers ${status} to ${title}`, async () => {
      const reply = await send();
      expect(reply.status, reply.text.slice(0, 300)).to.equal(status);
      expect(reply.json()['error']).to.be.a('string').and.not.equal('');
      expect(reply.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    });
  }

  describe('on the Admin API', () => {
    const ID = '00000000-0000-7000-8000-000000000000';
    const { admin, owner } = service;
    const definition = (extra: object) => ({
      name: 'other',
      fields: [{ name: 'title', field_type: 'text' }],
      ...extra,
    });
    const cases: readonly [title: string, status: number, send: () => ReturnType<Call>][] = [
      ['a sign-in that is not JSON', 400, () => admin('POST', '/api/admin/auth/login', '{"email":', json)],
      [
        'a sign-in with values of the wrong type',
        422,
        () => admin('POST', '/api/admin/auth/login', { email: { $ne: '' }, password: ['x'] }),
      ],
      [
        'a sign-in of 10 MB',
        413,
        () => admin('POST', '/api/admin/auth/login', { email: 'x'.repeat(10_000_000), password: 'x' }),
      ],
      [
        'a sign-in as a form',
        415,
        () =>
          admin('POST', '/api/admin/auth/login', 'email=a&password=b', {
            'content-type': 'application/x-www-form-urlencoded',
          }),
      ],
      ['a definition that is not JSON', 400, () => owner('POST', '/api/admin/schemas', '{', json)],
      [
        'a definition with a name that is SQL',
        422,
        () => owner('POST', '/api/admin/schemas', definition({ name: 'x; drop table note' })),
      ],
      [
        'a definition with a field named __proto__',
        422,
        () =>
          owner(
            'POST',
            '/api/admin/schemas',
            '{"name":"other","fields":[{"name":"__proto__","field_type":"text"}]}',
            json,
          ),
      ],
      [
        'a definition with an unknown field type',
        422,
        () => owner('POST', '/api/admin/schemas', definition({ fields: [{ name: 'a', field_type: 'blob' }] })),
      ],
      [
        'a definition whose pattern never finishes',
        422,
        () =>
          owner(
            'POST',
            '/api/admin/schemas',
            definition({
              fields: [
                { name: 'a', field_type: 'text', validation: [{ rule: 'pattern', params: { pattern: '(a+)+\\1$' } }] },
              ],
            }),
          ),
      ],
      [
        'a webhook with an unknown member',
        400,
        () => owner('POST', '/api/admin/webhooks', { name: 'x', url: 'https://example.com', nope: 1 }),
      ],
      [
        'a webhook with __proto__',
        400,
        () =>
          owner(
            'POST',
            '/api/admin/webhooks',
            '{"name":"x","url":"https://example.com","__proto__":{"polluted":1}}',
            json,
          ),
      ],
      ['a key without a name', 400, () => owner('POST', '/api/admin/api-keys', {})],
      ['a webhook id that is not a UUID', 404, () => owner('GET', '/api/admin/webhooks/1')],
      [
        'a key id that is not a UUID',
        404,
        () => owner('POST', `/api/admin/api-keys/${encodeURIComponent("' or 1=1 --")}/revoke`),
      ],
      ['a user id that is not a UUID', 404, () => owner('PUT', '/api/admin/users/1/roles', { roles: [] })],
      ['a user that does not exist', 404, () => owner('PUT', `/api/admin/users/${ID}/roles`, { roles: ['editor'] })],
      ['an event id that is not a UUID', 404, () => owner('GET', '/api/admin/audit/1')],
      ['a limit that is not a number', 400, () => owner('GET', '/api/admin/users?limit=all')],
      [
        '10,000 query parameters',
        431,
        () => owner('GET', `/api/admin/audit?${Array.from({ length: 10_000 }, (_, n) => `p${n}=1`).join('&')}`),
      ],
      ['a broken audit cursor', 400, () => owner('GET', '/api/admin/audit?cursor=%00')],
      [
        'a session token that is none',
        401,
        () => admin('GET', '/api/admin/schemas', undefined, { authorization: `Bearer ${'a.'.repeat(2000)}` }),
      ],
      [
        'a tenant that is none',
        404,
        () => owner('GET', '/api/admin/schemas', undefined, { 'x-tenant-id': '../../etc' }),
      ],
    ];
    for (const [title, status, send] of cases) {
      it(`answers ${status} to ${title}`, async () => {
        const reply = await send();
        expect(reply.status, reply.text.slice(0, 300)).to.equal(status);
        expect(reply.json()['error']).to.be.a('string').and.not.equal('');
      });
    }
  });

  for (const api of ['admin', 'content'] as const) {
    it(`stops reading a chunked body at the size limit (${api} API)`, async () => {
      const { adminUrl, contentUrl } = service.service();
      const url = api === 'admin' ? `${adminUrl}/api/admin/auth/login` : `${contentUrl}/api/v1/auth/token`;
      expect(await sendInChunks(url, 10 * 1024 * 1024)).to.equal(413);
    });
  }

  it('refuses __proto__ in a body and does not change any prototype', async () => {
    const reply = await key(
      'POST',
      '/api/v1/content/note',
      '{"data": {"title": "x"}, "__proto__": {"polluted": 1}}',
      json,
    );
    expect(reply.status).to.be.within(400, 422);
  });

  it('waits two seconds for a position that the log does not reach, then refuses', async function () {
    this.timeout(10_000);
    const started = performance.now();
    const reply = await key('GET', `/api/v1/content/note/${id}`, undefined, {
      'x-min-position': '99999999999999999999',
    });
    expect(reply.status).to.equal(503);
    expect(reply.headers['retry-after']).to.equal('1');
    expect(performance.now() - started).to.be.at.least(1900);
  });

  it('keeps running after bytes that are not HTTP', async () => {
    const { hostname, port } = new URL(service.service().contentUrl);
    const socket = connect(Number(port), hostname);
    socket.end('\u0000\u0001 garbage\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
  });

  it('answers 405 with the header Allow', async () => {
    const reply = await key('PATCH', `/api/v1/content/note/${id}`, { data: {} });
    expect(reply.headers['allow']).to.contain('GET').and.contain('PUT').and.contain('DELETE');
  });
});

/** Sends endless JSON without a Content-Length. @returns the status, which may arrive while it is still sending */
async function sendInChunks(url: string, bytes: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const outgoing = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    // After its response the service may close the connection.
    outgoing.on('error', reject);
  });
  outgoing.write('{"email":"');
  const body = Readable.from(
    (function* () {
      for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
    })(),
  );
  body.pipe(outgoing);
  const status = await answered;
  outgoing.destroy();
  return status;
}
