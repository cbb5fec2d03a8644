import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import type { Service } from '../../../../infrastructure/composition/start-service.ts';
import { type Call, caller, statusAndError } from '../../../support/http.ts';
import { type OidcIssuer, startOidcIssuer } from '../../../support/oidc-issuer.ts';
import { type Replica, useReplicas } from '../../../support/replicas.ts';

describe('tokens of trusted issuers on the Content API', function () {
  this.timeout(30_000);
  const replicas = useReplicas();
  let issuer: OidcIssuer;
  let ignored: OidcIssuer;
  let replica: Replica;
  let content: Call;
  let admin: Call;
  const with_ = (token: string) => ({ authorization: `Bearer ${token}` });
  const callers = (service: Service) => ({
    content: caller(() => service.contentUrl),
    admin: caller(() => service.adminUrl),
  });

  before(async () => {
    [issuer, ignored] = await Promise.all([startOidcIssuer(), startOidcIssuer()]);
    await Promise.all([issuer.addKey('one'), ignored.addKey('one')]);
  });
  beforeEach(async () => {
    const policies = [
      { issuer: issuer.url, audience: 'content', tenant: 'default', roles: ['editor'] },
      { issuer: issuer.url, audience: 'readers', tenant: 'default', roles: ['reader'] },
      { issuer: issuer.url, audience: 'acme', tenant: 'acme', roles: ['editor'] },
    ];
    replica = await replicas.start({
      environment: {
        TRUSTED_ISSUERS: `${issuer.url}/, ${ignored.url}`,
        TRUSTED_ISSUER_POLICIES: JSON.stringify(policies),
      },
    });
    ({ content, admin } = callers(replica.service));
    await replica.owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [{ name: 'title', field_type: 'text' }],
    });
  });
  after(async () => {
    await Promise.all([issuer.close(), ignored.close()]);
  });

  it('act in the tenant and with the roles of their policy, and keep their subject out of the history', async () => {
    const token = await issuer.token('one');
    const made = await content('POST', '/api/v1/content/note', { data: { title: 'from outside' } }, with_(token));
    expect(made.status, made.text).to.equal(201);
    const { id } = made.json<{ id: string }>();
    expect((await content('GET', `/api/v1/content/note/${id}`, undefined, with_(token))).status).to.equal(200);
    const [event] = (await replica.owner('GET', `/api/admin/audit?resource=entry:${id}`)).json<{
      data: { actor: { kind: string; id: string } }[];
    }>().data;
    expect(event?.actor.kind).to.equal('external');
    expect(event?.actor.id).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect((await replica.owner('GET', '/api/admin/audit')).text).to.not.contain('issuer.test');
    const again = await content(
      'POST',
      '/api/v1/content/note',
      { data: { title: 'again' } },
      with_(await issuer.token('one', { jti: 'another' })),
    );
    const [second] = (
      await replica.owner('GET', `/api/admin/audit?resource=entry:${again.json<{ id: string }>().id}`)
    ).json<{ data: { actor: { id: string } }[] }>().data;
    expect(second?.actor.id, 'the same person').to.equal(event?.actor.id);
    expect(
      (await replica.owner('GET', `/api/admin/audit?actor=external:${String(event?.actor.id)}`)).json<{
        data: unknown[];
      }>().data,
    ).to.have.length(2);
    expect((await replica.ownerContent('GET', `/api/v1/content/note/${id}/blame`)).text).to.contain('"external"');
  });

  it('are subject to access rules, and write only with a role that may write', async () => {
    const token = await issuer.token('one', { aud: 'readers' });
    const refused = async (method: string, path: string, body?: unknown) =>
      statusAndError(await content(method, path, body, with_(token)));
    expect(await refused('GET', '/api/v1/content/note')).to.deep.equal([403, 'permission denied']);
    expect(await refused('POST', '/api/v1/content/note', { data: { title: 'x' } })).to.deep.equal([
      403,
      'insufficient permissions',
    ]);
    await replica.owner('POST', '/api/admin/permissions', { role: 'reader', schema_name: 'note', actions: ['read'] });
    expect((await content('GET', '/api/v1/content/note', undefined, with_(token))).status).to.equal(200);
  });

  it('act in their own tenant independent of headers, and are refused when it is missing or disabled', async () => {
    const ofAcme = await issuer.token('one', { aud: 'acme' });
    expect((await content('GET', '/api/v1/content/note', undefined, with_(ofAcme))).status, 'no such tenant').to.equal(
      401,
    );
    expect((await replica.owner('POST', '/api/admin/tenants', { slug: 'acme', name: 'Acme' })).status).to.equal(201);
    expect(
      (await content('GET', '/api/v1/content/note', undefined, { ...with_(ofAcme), 'x-tenant-id': 'default' })).status,
      'no such type in acme',
    ).to.equal(404);
    await replica.owner('PUT', '/api/admin/tenants/acme', { disabled: true });
    const refused = await content('GET', '/api/v1/content/note', undefined, with_(ofAcme));
    expect(statusAndError(refused)).to.deep.equal([403, 'tenant is disabled']);
  });

  it('are refused on the Admin API', async () => {
    const token = await issuer.token('one');
    expect((await content('GET', '/api/v1/content/note', undefined, with_(token))).status).to.equal(200);
    for (const path of ['/api/admin/auth/me', '/api/admin/schemas', '/api/admin/health'])
      expect((await admin('GET', path, undefined, with_(token))).status).to.equal(401);
    expect((await admin('GET', '/api/admin/auth/me', undefined, { cookie: `sys_session=${token}` })).status).to.equal(
      401,
    );
  });

  it('are refused when their issuer has no policy, for another audience, and with another signature', async () => {
    const status = async (token: string) =>
      (await content('GET', '/api/v1/content/note', undefined, with_(token))).status;
    expect(await status(await ignored.token('one'))).to.equal(401);
    expect(ignored.fetches(), 'nobody asks it').to.equal(0);
    expect(
      replica.lines.some(({ message }) => message.includes('has no policy')),
      'the start tells',
    ).to.equal(true);
    expect(await status(await issuer.token('one', { aud: 'else' }))).to.equal(401);
    expect(await status(await issuer.token('one', { exp: Math.floor(Date.now() / 1000) - 61 }))).to.equal(401);
    const [head = '', body = '', signature = ''] = (await issuer.token('one')).split('.');
    expect(decodeProtectedHeader(`${head}.${body}.${signature}`).alg).to.equal('ES256');
    expect(await status(`${Buffer.from('{"alg":"none","kid":"one"}').toString('base64url')}.${body}.`)).to.equal(401);
  });

  it('are accepted with a new key without a restart, and are verified once', async () => {
    const token = await issuer.token('one');
    const status = async (sent: string) =>
      (await content('GET', '/api/v1/content/note', undefined, with_(sent))).status;
    expect(await status(token)).to.equal(200);
    await issuer.addKey('two', 'EdDSA');
    const fetches = issuer.fetches();
    expect(await status(await issuer.token('two'))).to.equal(200);
    expect(issuer.fetches()).to.equal(fetches + 1);
    issuer.answer('never');
    expect(await Promise.all(Array.from({ length: 20 }, () => status(token)))).to.deep.equal(
      Array.from({ length: 20 }, () => 200),
    );
    issuer.answer(undefined);
  });

  it('answer 503, not 401, when their issuer never responded', async () => {
    issuer.answer({ status: 500, body: '' });
    const reply = await content('GET', '/api/v1/content/note', undefined, with_(await issuer.token('one')));
    issuer.answer(undefined);
    expect([reply.status, reply.json()['error'], reply.headers['retry-after']]).to.deep.equal([
      503,
      'service unavailable',
      '10',
    ]);
  });
});
