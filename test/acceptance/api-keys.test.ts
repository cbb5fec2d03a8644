import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../../domain/durations.ts';
import { caller, statusAndError } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { useReplicas } from '../support/replicas.ts';
import { useService } from '../support/service.ts';

type Key = { readonly id: string; readonly raw_key?: string };
type Entry = { readonly id: string; readonly data: Readonly<Record<string, unknown>> };

describe('API keys and admin tokens', () => {
  const service = useService({ environment: licenseEnvironment({ capabilities: ['apikey-pro'] }) });
  const make = async (body: object) =>
    (await service.owner('POST', '/api/admin/api-keys', { name: 'k', ...body })).json<{
      id: string;
      raw_key: string;
    }>();
  const as = ({ raw_key }: { readonly raw_key: string }) =>
    caller(() => service.service().contentUrl, { 'x-api-key': raw_key });

  it('cannot reach a content type outside their list: by path, relation, populated relation or changes feed', async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'author',
      fields: [{ name: 'name', field_type: 'text' }],
    });
    await service.owner('POST', '/api/admin/schemas', {
      name: 'book',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'author', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'author' },
      ],
    });
    const author = (
      await service.ownerContent('POST', '/api/v1/content/author', { data: { name: 'Ada' } })
    ).json<Entry>();
    const book = (
      await service.ownerContent('POST', '/api/v1/content/book', { data: { title: 'Notes', author_id: author.id } })
    ).json<Entry>();
    const listed = as(await make({ roles: ['editor'], scopes: ['*:*'], schemas: ['book'] }));
    const whole = as(await make({ roles: ['editor'], scopes: ['*:*'] }));
    const chief = as(
      await make({ roles: ['admin'], schemas: ['book'], expires_at: new Date(Date.now() + DAY_MS).toISOString() }),
    );
    const shown = async (call: typeof listed) =>
      (await call('GET', `/api/v1/content/book/${book.id}?populate=*`)).json<Entry>().data;
    expect((await shown(whole))['author']).to.deep.include({ id: author.id });
    for (const call of [listed, chief]) {
      expect(await shown(call)).to.deep.equal({ title: 'Notes', author_id: author.id });
      expect((await call('GET', '/api/v1/content/book?populate=author')).json<Entry[]>()[0]?.data).to.deep.equal({
        title: 'Notes',
        author_id: author.id,
      });
      for (const path of [
        '',
        `/${author.id}`,
        '/cursor',
        '/changes',
        `/${author.id}/revisions`,
        `/${author.id}/blame`,
      ]) {
        const reply = await call('GET', `/api/v1/content/author${path}`);
        expect(statusAndError(reply), path).to.deep.equal([403, 'schema not allowed for this credential']);
      }
      expect((await call('GET', `/api/v1/content/book/${book.id}/relations/author`)).status).to.equal(403);
      expect((await call('GET', '/api/v1/schemas')).json<{ name: string }[]>().map(({ name }) => name)).to.deep.equal([
        'book',
      ]);
    }
  });

  it('are returned without their secret when their creation is repeated with the same idempotency key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const create = () => service.owner('POST', '/api/admin/api-keys', { name: 'once' }, headers);
    const [first, again] = [await create(), await create()];
    expect([first.status, again.status, again.headers['idempotency-replayed']]).to.deep.equal([201, 201, 'true']);
    const { raw_key, ...key } = first.json<Key>();
    expect(raw_key).to.match(/^svc_/);
    expect(again.json()).to.deep.equal(key);
    const rotation = { 'idempotency-key': randomUUID() };
    const rotate = () => service.owner('POST', `/api/admin/api-keys/${key.id}/rotate`, {}, rotation);
    expect((await rotate()).json<Key>().raw_key).to.match(/^svc_/);
    const repeated = await rotate();
    expect([repeated.status, repeated.headers['idempotency-replayed'], repeated.json<Key>().raw_key]).to.deep.equal([
      200,
      'true',
      undefined,
    ]);
  });

  it('are recorded as the actor in the audit log and on the entries that they wrote', async () => {
    const token = (
      await service.owner('POST', '/api/admin/admin-tokens', {
        name: 'ci',
        grants: ['content:read', 'content:write', 'audit:read'],
        password: 'Correct-Horse-7-battery',
      })
    ).json<{ id: string; raw_token: string }>();
    const call = caller(() => service.service().adminUrl, { authorization: `Bearer ${token.raw_token}` });
    const written = await call('POST', '/api/admin/content', { schema_name: 'author', data: { name: 'Grace' } });
    expect(written.status, written.text).to.equal(201);
    expect(written.json()['created_by']).to.deep.equal({ kind: 'admin_token', id: token.id });
    const { data } = (await call('GET', `/api/admin/audit?actor=admin_token:${token.id}`)).json<{
      data: { type: string; actor: unknown }[];
    }>();
    expect(data.map(({ type, actor }) => [type, actor])).to.deep.equal([
      ['EntryCreated', { kind: 'admin_token', id: token.id }],
    ]);
    const all = await call('GET', '/api/admin/audit?type=AdminTokenCreated');
    const [event] = all.json<{ data: { id: string }[] }>().data;
    const detail = await call('GET', `/api/admin/audit/${event?.id ?? ''}`);
    expect(detail.json<{ data: object }>().data).to.deep.include({ name: 'ci', token_hash: '********' });
  });
});

describe('API_KEY_PEPPER', () => {
  const replicas = useReplicas();

  it('can be rotated: older keys stay valid while API_KEY_PEPPER_PREVIOUS contains the old pepper', async () => {
    const first = await replicas.start({ environment: { API_KEY_PEPPER: 'the-first-pepper-of-this-install' } });
    const { raw_key } = (await first.owner('POST', '/api/admin/api-keys', { name: 'k', scopes: ['*:*'] })).json<{
      raw_key: string;
    }>();
    await first.stop();
    const statusUnder = async (environment: Readonly<Record<string, string>>, key: string) => {
      const replica = await replicas.start({ environment });
      const { status } = await caller(() => replica.service.contentUrl)('GET', '/api/v1/schemas', undefined, {
        'x-api-key': key,
      });
      const made = (await replica.owner('POST', '/api/admin/api-keys', { name: 'k', scopes: ['*:*'] })).json<{
        raw_key: string;
      }>();
      await replica.stop();
      return { status, made: made.raw_key };
    };
    const second = { API_KEY_PEPPER: 'the-second-pepper-of-this-install' };
    expect((await statusUnder(second, raw_key)).status).to.equal(401);
    const both = await statusUnder({ ...second, API_KEY_PEPPER_PREVIOUS: 'the-first-pepper-of-this-install' }, raw_key);
    expect(both.status).to.equal(200);
    expect((await statusUnder(second, both.made)).status, 'new ones are under the new pepper alone').to.equal(200);
  });
});
