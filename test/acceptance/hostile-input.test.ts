import { expect } from 'chai';
import { connect } from 'node:net';
import { once } from 'node:events';
import type { Call } from '../support/http.ts';
import { useService } from '../support/service.ts';

describe('hostile input', () => {
  const service = useService();
  let key: Call;
  let id: string;

  before(async () => {
    await service.owner('POST', '/api/admin/schemas', { name: 'note', fields: [{ name: 'title', field_type: 'text', required: true }, { name: 'n', field_type: 'integer' }, { name: 'j', field_type: 'json' }] });
    key = await service.key({});
    id = (await key('POST', '/api/v1/content/note', { data: { title: 'kept' } })).json<{ id: string }>().id;
  });
  afterEach('the service goes on', async () => {
    const read = await key('GET', `/api/v1/content/note/${id}`);
    expect([read.status, read.json<{ data: { title: string } }>().data.title]).to.deep.equal([200, 'kept']);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  const json = { 'content-type': 'application/json' };
  const refusals: readonly [title: string, status: number, send: () => ReturnType<Call>][] = [
    ['text that is not JSON', 400, () => key('POST', '/api/v1/content/note', '{"data": {', json)],
    ['an empty body', 400, () => key('POST', '/api/v1/content/note', '', json)],
    ['a body that is no object', 422, () => key('POST', '/api/v1/content/note', '[1]', json)],
    ['another content type', 415, () => key('POST', '/api/v1/content/note', '<a/>', { 'content-type': 'text/xml' })],
    ['a value of the wrong type', 422, () => key('POST', '/api/v1/content/note', { data: { title: 7 } })],
    ['a number that is no integer', 422, () => key('POST', '/api/v1/content/note', { data: { title: 'x', n: 1.5 } })],
    ['a missing required field', 422, () => key('POST', '/api/v1/content/note', { data: {} })],
    ['an unknown field', 422, () => key('POST', '/api/v1/content/note', { data: { title: 'x', nope: 1 } })],
    ['a body of 10 MB', 413, () => key('POST', '/api/v1/content/note', { data: { title: 'x'.repeat(10_000_000) } })],
    ['10,000 query parameters', 400, () => key('GET', `/api/v1/content/note?${Array.from({ length: 10_000 }, (_, n) => `p${n}=1`).join('&').slice(0, 15_000)}`)],
    ['a filter on a prototype key', 400, () => key('GET', '/api/v1/content/note?filters[__proto__][polluted]=1')],
    ['a filter deeper than any operator', 400, () => key('GET', `/api/v1/content/note?filters${'[a]'.repeat(30)}=1`)],
    ['an unknown filter field', 400, () => key('GET', '/api/v1/content/note?filters[nope]=1')],
    ['an unknown operator', 400, () => key('GET', '/api/v1/content/note?filters[title][$nope]=1')],
    ['SQL in a sort', 400, () => key('GET', `/api/v1/content/note?sort=${encodeURIComponent('title;drop table note')}`)],
    ['a limit out of range', 400, () => key('GET', '/api/v1/content/note?limit=201')],
    ['a broken cursor', 400, () => key('GET', '/api/v1/content/note/cursor?cursor=%00%01')],
    ['an id that is no UUID', 404, () => key('GET', '/api/v1/content/note/1')],
    ['an id with SQL in it', 404, () => key('GET', `/api/v1/content/note/${encodeURIComponent("' or 1=1 --")}`)],
    ['a content type that is not there', 404, () => key('GET', '/api/v1/content/nope')],
    ['a content type with a quote in its name', 404, () => key('GET', `/api/v1/content/${encodeURIComponent('note"; drop schema rm_content cascade; --')}`)],
    ['bad percent-encoding in the path', 400, () => key('GET', '/api/v1/content/%E0%A4%A')],
    ['a path never served', 404, () => key('GET', '/api/v1/nowhere')],
    ['another method', 405, () => key('PATCH', `/api/v1/content/note/${id}`, { data: {} })],
    ['a method nobody knows on an admin path', 405, () => service.owner('PATCH', '/api/admin/schemas', {})],
    ['an unknown member beside data', 422, () => key('POST', '/api/v1/content/note', { data: { title: 'x' }, extra: 1 })],
    ['an Idempotency-Key that is too long', 400, () => key('POST', '/api/v1/content/note', { data: { title: 'x' } }, { 'idempotency-key': 'k'.repeat(256) })],
    ['a position that is none', 400, () => key('GET', `/api/v1/content/note/${id}`, undefined, { 'x-min-position': 'soon' })],
    ['a field name of the prototype', 422, () => key('POST', '/api/v1/content/note', '{"data": {"title": "x", "constructor": {"prototype": {"polluted": 1}}}}', json)],
    ['NUL in text', 422, () => key('POST', '/api/v1/content/note', { data: { title: 'a\u0000b' } })],
    ['a lone surrogate in text', 422, () => key('POST', '/api/v1/content/note', '{"data": {"title": "\\ud800"}}', json)],
    ['NUL deep inside json', 422, () => key('POST', '/api/v1/content/note', { data: { title: 'x', j: { deep: ['a\u0000b'] } } })],
  ];
  for (const [title, status, send] of refusals) {
    it(`answers ${status} to ${title}`, async () => {
      const reply = await send();
      expect(reply.status, reply.text.slice(0, 300)).to.equal(status);
      expect(reply.json()['error']).to.be.a('string').and.not.equal('');
      expect(reply.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    });
  }

  it('refuses __proto__ in a body without touching any prototype', async () => {
    const reply = await key('POST', '/api/v1/content/note', '{"data": {"title": "x"}, "__proto__": {"polluted": 1}}', json);
    expect(reply.status).to.be.within(400, 422);
  });

  it('waits for a position that never comes no longer than two seconds', async function () {
    this.timeout(10_000);
    const started = performance.now();
    const reply = await key('GET', `/api/v1/content/note/${id}`, undefined, { 'x-min-position': '99999999999999999999' });
    expect(reply.status).to.equal(503);
    expect(reply.headers['retry-after']).to.equal('1');
    expect(performance.now() - started).to.be.within(1900, 4000);
  });

  it('survives a request that is no HTTP', async () => {
    const { hostname, port } = new URL(service.service().contentUrl);
    const socket = connect(Number(port), hostname);
    socket.end('\u0000\u0001 garbage\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
  });

  it('answers 405 with Allow', async () => {
    const reply = await key('PATCH', `/api/v1/content/note/${id}`, { data: {} });
    expect(reply.headers['allow']).to.contain('GET').and.contain('PUT').and.contain('DELETE');
  });
});
