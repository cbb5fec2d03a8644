import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { eventually } from '../support/eventually.ts';
import { statusAndError } from '../support/http.ts';
import { OWNER, SETUP_TOKEN } from '../support/owner.ts';
import { useService } from '../support/service.ts';

type Entry = {
  id: string;
  schema_name: string;
  data: Record<string, unknown>;
  version: number;
  status?: string;
  created_at: string;
  updated_at: string;
  created_by: { kind: string; id: string };
};

const article = {
  name: 'article',
  with_created_at: true,
  with_updated_at: true,
  with_draft_publish: true,
  fields: [
    { name: 'title', field_type: 'text', required: true },
    { name: 'rating', field_type: 'integer', indexed: true },
    { name: 'code', field_type: 'text', unique: true },
    { name: 'body', field_type: 'rich_text' },
  ],
};

describe('first steps over HTTP', () => {
  const service = useService();
  const { admin, content, owner } = service;

  it('creates the first account once, with the setup token', async () => {
    expect((await admin('GET', '/api/admin/setup')).json()).to.deep.equal({ setup_required: false });
    const again = await admin('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
    expect(statusAndError(again)).to.deep.equal([409, 'setup is already complete']);
  });

  it('signs in, returns the current user, refreshes the session once and signs out', async () => {
    const login = await admin('POST', '/api/admin/auth/login', OWNER);
    expect(login.status).to.equal(200);
    const session = login.json<{
      token: string;
      csrf_token: string;
      refresh_token: string;
      expires_in: number;
      user: { email: string };
    }>();
    expect(session.user.email).to.equal(OWNER.email);
    expect(session.expires_in).to.equal(900);
    const me = await admin('GET', '/api/admin/auth/me', undefined, { authorization: `Bearer ${session.token}` });
    expect(me.json()).to.include({ email: OWNER.email });
    expect(me.json()['roles']).to.deep.equal(['super_admin']);
    const refreshed = await admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token });
    expect(refreshed.status).to.equal(200);
    const reused = await admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token });
    expect(statusAndError(reused)).to.deep.equal([401, 'invalid refresh token']);
  });

  it('requires the CSRF token with the session cookie', async () => {
    const login = await admin('POST', '/api/admin/auth/login', OWNER);
    const cookie = login.headers['set-cookie']?.split(';')[0] ?? '';
    expect(login.headers['set-cookie']).to.match(/^sys_session=.*HttpOnly.*SameSite=Lax/i);
    const without = await admin('POST', '/api/admin/auth/logout', {}, { cookie });
    expect(statusAndError(without)).to.deep.equal([403, 'invalid CSRF token']);
    const withToken = await admin(
      'POST',
      '/api/admin/auth/logout',
      {},
      { cookie, 'x-csrf-token': login.json<{ csrf_token: string }>().csrf_token },
    );
    expect(withToken.status).to.be.within(200, 204);
    expect((await admin('GET', '/api/admin/auth/me', undefined, { cookie })).status).to.equal(401);
  });

  it('publishes the verification key of session tokens on the Content API only', async () => {
    const token = (await admin('POST', '/api/admin/auth/login', OWNER)).json<{ token: string }>().token;
    expect(decodeJwt(token).exp).to.be.a('number');
    const jwks = await content('GET', '/.well-known/jwks.json');
    expect(jwks.json<{ keys: { kty: string; crv: string }[] }>().keys[0]).to.include({ kty: 'OKP', crv: 'Ed25519' });
    expect((await admin('GET', '/.well-known/jwks.json')).status).to.equal(404);
  });

  it('creates, publishes, updates and unpublishes an entry, reads and restores its revisions, and deletes it', async () => {
    expect((await owner('POST', '/api/admin/schemas', article)).status).to.equal(200);
    const key = await service.key({});
    const created = await key('POST', '/api/v1/content/article', { data: { title: 'One', rating: 3, code: 'a' } });
    expect(created.status).to.equal(201);
    const entry = created.json<Entry>();
    expect(entry).to.include({ schema_name: 'article', version: 1, status: 'draft' });
    expect(entry.data).to.deep.include({ title: 'One', rating: 3, code: 'a' });
    expect(created.headers['x-commit-position']).to.match(/^\d{20}$/);

    expect((await key('GET', '/api/v1/content/article')).json<Entry[]>()).to.have.length(0);
    expect((await key('PUT', `/api/v1/content/article/${entry.id}/publish`)).json()).to.include({
      version: 2,
      status: 'published',
    });
    expect((await key('GET', '/api/v1/content/article')).json<Entry[]>().map(({ id }) => id)).to.deep.equal([entry.id]);

    const updated = await key('PUT', `/api/v1/content/article/${entry.id}`, { data: { title: 'Two' } });
    expect(updated.json<Entry>()).to.deep.include({ version: 3 });
    expect(updated.json<Entry>().data).to.deep.include({ title: 'Two', rating: 3, code: 'a' });
    const read = await key('GET', `/api/v1/content/article/${entry.id}`);
    expect(read.headers['etag']).to.equal('"3"');
    expect(
      (await key('GET', `/api/v1/content/article/${entry.id}`, undefined, { 'if-none-match': '"3"' })).status,
    ).to.equal(304);

    const revisions = (await key('GET', `/api/v1/content/article/${entry.id}/revisions`)).json<
      { id: string; version: number; changed: string[] }[]
    >();
    expect(revisions.map(({ version }) => version)).to.deep.equal([3, 2, 1]);
    expect(revisions[0]?.changed).to.deep.equal(['title']);
    const [latest, , first] = revisions;
    const old = await key('GET', `/api/v1/content/article/${entry.id}/revisions/${first?.id}`);
    expect(old.json<Entry>().data).to.deep.include({ title: 'One' });
    const diff = await key('GET', `/api/v1/content/article/${entry.id}/revisions/${first?.id}/diff/${latest?.id}`);
    expect(diff.json<{ changes: unknown[] }>().changes).to.deep.include({ field: 'title', from: 'One', to: 'Two' });

    const then = await key('GET', `/api/v1/content/article/${entry.id}?as_of=${entry.updated_at}`);
    expect(then.json<Entry>().data).to.deep.include({ title: 'One' });
    const before = new Date(Date.parse(entry.created_at) - 1000).toISOString();
    expect((await key('GET', `/api/v1/content/article/${entry.id}?as_of=${before}`)).status).to.equal(404);

    const restored = await key('PUT', `/api/v1/content/article/${entry.id}/revisions/${first?.id}/restore`);
    expect(restored.json<Entry>().data).to.deep.include({ title: 'One' });
    expect((await key('PUT', `/api/v1/content/article/${entry.id}/unpublish`)).json()).to.include({ status: 'draft' });
    expect((await key('DELETE', `/api/v1/content/article/${entry.id}`)).status).to.equal(204);
    expect((await key('GET', `/api/v1/content/article/${entry.id}`)).status).to.equal(404);
  });

  it('refuses a duplicate unique value, and allows it again after the entry is deleted', async () => {
    const key = await service.key({});
    const [first] = await Promise.all([key('POST', '/api/v1/content/article', { data: { title: 'x', code: 'same' } })]);
    const second = await key('POST', '/api/v1/content/article', { data: { title: 'y', code: 'same' } });
    expect(second.status).to.equal(409);
    expect(second.json()).to.deep.include({ error: 'unique value already held' });
    await key('DELETE', `/api/v1/content/article/${first.json<Entry>().id}`);
    expect((await key('POST', '/api/v1/content/article', { data: { title: 'z', code: 'same' } })).status).to.equal(201);
  });

  it('creates all entries of a bulk request or none', async () => {
    const key = await service.key({});
    const refused = await key('POST', '/api/v1/content/article/bulk', {
      entries: [{ data: { title: 'ok' } }, { data: { rating: 1 } }],
    });
    expect(refused.status).to.equal(422);
    expect(refused.json()['error']).to.equal('validation failed');
    expect(refused.json<{ errors: { index: number; field: string }[] }>().errors[0]).to.include({
      index: 1,
      field: 'title',
    });
    const taken = await key('POST', '/api/v1/content/article/bulk', {
      entries: [{ data: { title: 'b1' } }, { data: { title: 'b2' } }],
    });
    expect([taken.status, taken.json()['created']]).to.deep.equal([201, 2]);
  });

  it('returns every entry exactly once when paging by cursor', async () => {
    const key = await service.key({});
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = (
        await key('GET', `/api/v1/content/article/cursor?limit=2&filters[_status]=draft&cursor=${cursor}`)
      ).json<{ data: Entry[]; next_cursor: string }>();
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== '');
    expect(new Set(seen).size).to.equal(seen.length);
    expect(seen.length).to.equal(
      Number((await key('GET', '/api/v1/content/article?filters[_status]=draft&count=true')).headers['x-total-count']),
    );
  });

  it('checks an API key in the documented order', async () => {
    const reader = await service.key({ roles: ['editor'], scopes: ['content:read'] });
    expect((await reader('POST', '/api/v1/content/article', { data: { title: 'no' } })).json()).to.include({
      error: 'insufficient scope',
    });
    const roleless = await service.key({ roles: [], scopes: ['*:*'] });
    expect((await roleless('GET', '/api/v1/content/article')).json()).to.include({ error: 'permission denied' });
    expect((await roleless('POST', '/api/v1/content/article', { data: { title: 'no' } })).json()).to.include({
      error: 'insufficient permissions',
    });
    const elsewhere = await service.key({ schemas: ['page'] });
    expect((await elsewhere('GET', '/api/v1/content/article')).json()).to.include({
      error: 'schema not allowed for this credential',
    });
    expect((await content('GET', '/api/v1/content/article')).json()).to.include({ error: 'authentication required' });
  });

  it('refuses an API key as soon as its revocation is acknowledged, and keeps its request log', async () => {
    const made = (
      await owner('POST', '/api/admin/api-keys', { name: 'short', roles: ['editor'], scopes: ['content:read'] })
    ).json<{ id: string; raw_key: string; prefix: string }>();
    const use = () => content('GET', '/api/v1/content/article', undefined, { 'x-api-key': made.raw_key });
    expect((await use()).status).to.equal(200);
    expect((await owner('POST', `/api/admin/api-keys/${made.id}/revoke`)).status).to.equal(204);
    expect((await use()).json()).to.include({ error: 'authentication required' });
    await eventually(async () => {
      const log = (await owner('GET', `/api/admin/api-keys/${made.id}/audit`)).json<
        { path: string; status: number }[]
      >();
      expect(log.map(({ path, status }) => [path, status])).to.deep.include(['/api/v1/content/article', 200]);
    });
    const listed = await owner('GET', '/api/admin/api-keys?limit=200');
    expect(listed.text).not.to.contain(made.raw_key);
  });

  it('repeats the response to a repeated Idempotency-Key, and refuses the key with another body', async () => {
    const key = await service.key({});
    const header = { 'idempotency-key': 'once-only' };
    const first = await key('POST', '/api/v1/content/article', { data: { title: 'idem' } }, header);
    const second = await key('POST', '/api/v1/content/article', { data: { title: 'idem' } }, header);
    expect(second.headers['idempotency-replayed']).to.equal('true');
    expect(second.json<Entry>().id).to.equal(first.json<Entry>().id);
    const other = await key('POST', '/api/v1/content/article', { data: { title: 'other' } }, header);
    expect(statusAndError(other)).to.deep.equal([422, 'idempotency key was used with another body']);
  });

  it('lists the actions of all users in the audit log, newest first, without secrets', async () => {
    const page = (await owner('GET', '/api/admin/audit?limit=50')).json<{
      data: { id: string; type: string; position: string; actor: { kind: string }; resource: { kind: string } }[];
      next_cursor: string;
    }>();
    const positions = page.data.map(({ position }) => position);
    expect(positions).to.deep.equal(positions.toSorted().toReversed());
    expect(page.data.some(({ type }) => type === 'EntryCreated')).to.equal(true);
    const types = (await owner('GET', '/api/admin/audit?type=ContentTypeSaved')).json<{ data: { type: string }[] }>();
    expect(types.data.map(({ type }) => type)).to.deep.equal(['ContentTypeSaved']);
    const user = (await owner('GET', '/api/admin/audit?type=UserCreated')).json<{ data: { id: string }[] }>().data[0];
    const detail = await owner('GET', `/api/admin/audit/${user?.id}`);
    expect(detail.status).to.equal(200);
    expect(detail.text).not.to.contain(OWNER.email).and.not.to.contain('$2');
    expect((await owner('GET', '/api/admin/audit/00000000-0000-7000-8000-000000000000')).json()).to.include({
      error: 'event not found',
    });
  });

  it('passes the liveness, readiness and startup probes on both ports, and serves its OpenAPI document', async () => {
    for (const call of [admin, content])
      for (const path of ['/healthz', '/readyz', '/startup'])
        expect((await call('GET', path)).status, path).to.equal(200);
    const metrics = await owner('GET', '/api/admin/metrics');
    expect(metrics.text).to.match(/palimpsest_/);
    expect((await owner('GET', '/api/admin/openapi/admin.json')).json<{ openapi: string }>().openapi).to.match(/^3\.1/);
  });
});
