import { expect } from 'chai';
import { ownValue } from '../../domain/own-value.ts';
import type { Call, Reply } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly data: Readonly<Record<string, unknown>> };

/** The names that every object of JavaScript inherits, and others with a meaning for objects. */
const NAMES = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'toJSON', 'then'];

function good(reply: Reply): Reply {
  expect(reply.status, reply.text).to.be.oneOf([200, 201, 204]);
  expect(reply.headers['x-projection-lag']).to.equal(undefined);
  return reply;
}

describe('ownValue', () => {
  it('finds no inherited property', () => {
    for (const name of NAMES) {
      expect(ownValue<unknown>({}, name), name).to.equal(undefined);
      expect(ownValue<unknown>(JSON.parse(`{${JSON.stringify(name)}: 1}`), name), name).to.equal(1);
    }
  });
});

describe('names that objects inherit', () => {
  const { owner, ownerContent } = useService();

  /** Names that the rules for names of fields and content types allow. */
  let allowed: readonly string[] = [];
  let types: readonly string[] = [];

  before(async function () {
    this.timeout(60_000);
    const accepted: string[] = [];
    for (const name of NAMES) {
      const reply = await owner('POST', '/api/admin/schemas/probe/preview', {
        fields: [{ name, field_type: 'text' }],
      });
      expect(reply.status, reply.text).to.be.oneOf([200, 422]);
      if (reply.status === 200) accepted.push(name);
    }
    allowed = accepted;
    expect(allowed).to.include('constructor');
    types = ['plain', 'counted', ...allowed];
    for (const type of types)
      good(
        await owner('POST', '/api/admin/schemas', {
          name: type,
          with_draft_publish: true,
          with_soft_delete: true,
          fields: [
            { name: 'title', field_type: 'text' },
            ...allowed.flatMap((name, index) => [
              {
                name,
                field_type: index % 2 === 1 ? 'json' : type === 'counted' ? 'integer' : 'text',
                ...(index % 2 === 0 && { unique: true }),
              },
            ]),
          ],
        }),
      );
  });

  const empty = () => Object.fromEntries(allowed.map((name) => [name, null]));

  async function lifeOf(type: string, call: Call): Promise<void> {
    const path = `/api/v1/content/${type}`;
    const first = good(await call('POST', path, { data: { title: 'one' } })).json<Entry>();
    const second = good(await call('POST', path, { data: { title: 'two' } })).json<Entry>();
    expect(first.data).to.deep.equal({ title: 'one', ...empty() });
    expect(good(await call('GET', `${path}/${first.id}`)).json<Entry>()).to.deep.equal(first);
    good(await call('PUT', `${path}/${first.id}`, { data: { title: 'changed' } }));
    for (const [index, name] of allowed.entries()) {
      const sort = index % 2 === 0 ? `${name},title` : 'title';
      const list = good(await call('GET', `${path}?filters[_status]=draft&sort=${sort}&fields=${name}&count=true`));
      expect(list.json<Entry[]>().map(({ data }) => data)).to.deep.equal([{ [name]: null }, { [name]: null }]);
      const found = good(await call('GET', `${path}?filters[${name}][$null]=true&filters[_status]=draft`));
      expect(found.json<Entry[]>()).to.have.lengthOf(2);
    }
    const past = good(
      await call('GET', `${path}?as_of=${new Date().toISOString()}&filters[_status]=draft&sort=title`),
    ).json<Entry[]>();
    expect(past.map(({ data }) => data)).to.deep.equal([
      { title: 'changed', ...empty() },
      { title: 'two', ...empty() },
    ]);
    const of = `${path}/${first.id}`;
    for (const rest of ['/revisions', '/revisions/1', '/blame']) good(await call('GET', of + rest));
    expect(good(await call('GET', `${of}/revisions/1/diff/2`)).json()['changes']).to.deep.equal([
      { field: 'title', from: 'one', to: 'changed' },
    ]);
    expect(good(await call('PUT', `${of}/revisions/1/restore`)).json<Entry>().data).to.deep.equal(first.data);
    for (const transition of ['publish', 'unpublish', 'archive', 'unarchive'])
      good(await call('PUT', `${of}/${transition}`));
    good(await call('DELETE', of));
    good(await call('PUT', `${of}/undelete`));
    good(await call('DELETE', `${path}/${second.id}`));
    expect(good(await call('GET', of)).json<Entry>().data).to.deep.equal(first.data);
  }

  it('can be fields without a value in every operation on an entry, and stop no read model', async () => {
    for (const type of types) await lifeOf(type, ownerContent);
  }).timeout(60_000);

  it('can be fields that are undone, listed in the console, and exported as a type and a preset', async () => {
    const entry = good(
      await ownerContent('POST', '/api/v1/content/plain', { data: { title: 'undone' } }),
    ).json<Entry>();
    const changed = good(await ownerContent('PUT', `/api/v1/content/plain/${entry.id}`, { data: { title: 'x' } }));
    const selector = { correlation_id: changed.headers['x-correlation-id'] };
    good(await owner('POST', '/api/admin/undo', selector));
    good(await owner('POST', '/api/admin/undo', { ...selector, apply: true }));
    expect(good(await ownerContent('GET', `/api/v1/content/plain/${entry.id}`)).json<Entry>().data).to.deep.equal(
      entry.data,
    );
    for (const type of types) good(await owner('GET', `/api/admin/content?schema=${type}&q=one`));
    for (const path of ['/api/v1/openapi.json', '/api/v1/schemas', '/api/v1/schemas/constructor'])
      good(await ownerContent('GET', path));
  });

  it('are refused as unknown fields, filters, sort keys and parameters', async () => {
    good(await owner('POST', '/api/admin/schemas', { name: 'bare', fields: [{ name: 'title', field_type: 'text' }] }));
    for (const name of NAMES) {
      const path = '/api/v1/content/bare';
      const created = await ownerContent('POST', path, JSON.parse(`{"data":{${JSON.stringify(name)}:"x"}}`) as object);
      const replies = [created.status];
      for (const query of [
        `filters[${name}]=x`,
        `filters[title][${name}]=x`,
        `sort=${name}`,
        `fields=${name}`,
        `populate=${name}`,
      ])
        replies.push((await ownerContent('GET', `${path}?${query}`)).status);
      for (const status of replies) expect(status, `${name}: ${String(replies)}`).to.be.within(200, 422);
      expect(replies[0], name).to.be.within(400, 422);
      expect((await ownerContent('GET', `/api/v1/content/${name}`)).status, name).to.be.oneOf([200, 404]);
      expect((await owner('GET', `/api/admin/plugins/${name}`)).status, name).to.be.within(200, 422);
    }
    good(await ownerContent('GET', '/api/v1/content/bare'));
  }).timeout(60_000);

  it('can be names of tenants, roles and headers of webhooks', async () => {
    good(await owner('POST', '/api/admin/tenants', { slug: 'constructor', name: 'Constructor' }));
    const inTenant: Call = (method, path, body) => owner(method, path, body, { 'x-tenant-id': 'constructor' });
    expect(good(await inTenant('GET', '/api/admin/schemas')).json()).to.deep.equal([]);
    for (const role of NAMES) {
      const reply = await owner('POST', '/api/admin/permissions', {
        schema: 'constructor',
        role,
        action: 'read',
        effect: 'allow',
        field_masks: ['constructor'],
      });
      expect(reply.status, reply.text).to.be.within(200, 422);
    }
    const headers = Object.fromEntries(NAMES.filter((name) => name !== '__proto__').map((name) => [name, 'x']));
    const reply = await owner('POST', '/api/admin/webhooks', {
      name: 'hook',
      url: 'http://127.0.0.1:9/',
      events: ['entry.created'],
      headers,
    });
    expect(reply.status, reply.text).to.be.within(200, 422);
    good(await ownerContent('POST', '/api/v1/content/plain', { data: {} }));
  }).timeout(60_000);
});
