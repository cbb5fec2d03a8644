import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../../../../infrastructure/composition/start-service.ts';
import { loadSettings } from '../../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../../../infrastructure/configuration/read-settings.ts';
import { caller, statusAndError } from '../../../support/http.ts';
import { OWNER } from '../../../support/owner.ts';
import { useReplicas } from '../../../support/replicas.ts';
import { testEnvironment, useService } from '../../../support/service.ts';

type Session = {
  readonly token: string;
  readonly csrf_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly user: { readonly id: string };
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the lifetime of sessions', () => {
  let ahead = 0;
  const service = useService({
    environment: { JWT_EXPIRY_SECS: '120', REFRESH_TOKEN_TTL_SECS: '600' },
    start: { now: () => new Date(Date.now() + ahead) },
  });
  const me = async (token: string) =>
    (await service.admin('GET', '/api/admin/auth/me', undefined, bearer(token))).status;
  const refresh = (refresh_token: string) => service.admin('POST', '/api/admin/auth/refresh', { refresh_token });

  it('follows JWT_EXPIRY_SECS and REFRESH_TOKEN_TTL_SECS', async () => {
    const login = await service.admin('POST', '/api/admin/auth/login', OWNER);
    const session = login.json<Session>();
    expect(login.headers['set-cookie']).to.contain('Max-Age=120;');
    const { iat = 0, exp = 0 } = decodeJwt(session.token);
    expect([session.expires_in, exp - iat]).to.deep.equal([120, 120]);
    ahead = 110_000;
    expect(await me(session.token)).to.equal(200);
    ahead = 121_000;
    expect(await me(session.token)).to.equal(401);
    ahead = 580_000;
    const next = (await refresh(session.refresh_token)).json<Session>();
    expect(next.expires_in).to.equal(120);
    ahead = 1_160_000;
    const last = await refresh(next.refresh_token);
    expect(last.status, 'each refresh token lives its own time').to.equal(200);
    ahead = 1_765_000;
    const late = await refresh(last.json<Session>().refresh_token);
    expect(statusAndError(late)).to.deep.equal([401, 'invalid refresh token']);
  });

  it('is the same on the Content API', async () => {
    const reply = await service.content('POST', '/api/v1/auth/token', OWNER);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.json()).to.have.all.keys('token', 'csrf_token', 'refresh_token', 'expires_in', 'user');
    expect(reply.headers['set-cookie']).to.equal(undefined);
    expect(reply.headers['cache-control']).to.equal('no-store');
    expect(
      (await service.content('GET', '/api/v1/schemas', undefined, bearer(reply.json<Session>().token))).status,
    ).to.equal(200);
    expect(await me(reply.json<Session>().token), 'works on both APIs').to.equal(200);
  });
});

describe('the session cookie', () => {
  let secured: Service | undefined;
  // Hooks run in the order of their registration: the service stops before its database is dropped.
  after(async () => {
    await secured?.stop();
  });
  const service = useService();
  const viaTls = { 'x-forwarded-proto': 'https' };
  const secure = { admin: caller(() => secured?.adminUrl ?? '') };
  before(async () => {
    const layers = [
      environmentLayer({ ...testEnvironment(service.database.url(), service.directory()), SECURE_COOKIE: 'true' }),
    ];
    secured = await startService({ settings: loadSettings(layers).settings, layers });
  });

  it('has the name and attributes that SECURE_COOKIE selects', async () => {
    const plain = await service.admin('POST', '/api/admin/auth/login', OWNER);
    expect(plain.headers['set-cookie']).to.match(/^sys_session=[\w.-]+; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax$/);
    const marked = await secure.admin('POST', '/api/admin/auth/login', OWNER, viaTls);
    expect(marked.headers['set-cookie']).to.match(
      /^__Host-sys_session=[\w.-]+; Max-Age=900; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const { token } = marked.json<Session>();
    expect(
      (await secure.admin('GET', '/api/admin/auth/me', undefined, { ...viaTls, cookie: `__Host-sys_session=${token}` }))
        .status,
    ).to.equal(200);
    expect(
      (await secure.admin('GET', '/api/admin/auth/me', undefined, { ...viaTls, cookie: `sys_session=${token}` }))
        .status,
      'by the other name',
    ).to.equal(401);
  });

  it('needs the CSRF token for requests that may change data, unlike a bearer token', async () => {
    const session = (await service.admin('POST', '/api/admin/auth/login', OWNER)).json<Session>();
    const other = (await service.admin('POST', '/api/admin/auth/login', OWNER)).json<Session>();
    const cookie = { cookie: `sys_session=${session.token}` };
    const id = '0192f0c0-0000-7000-8000-000000000001';
    const unsafe = [
      ['POST', '/api/admin/users'],
      ['PUT', `/api/admin/users/${id}/state`],
      ['PATCH', `/api/admin/api-keys/${id}/monthly-limit`],
      ['DELETE', `/api/admin/users/${id}`],
      ['POST', '/api/admin/auth/logout'],
    ] as const;
    for (const [method, path] of unsafe) {
      for (const csrf of [undefined, '', 'wrong', other.csrf_token, session.csrf_token.slice(0, -1)]) {
        const refused = await service.admin(
          method,
          path,
          { disabled: true },
          { ...cookie, ...(csrf === undefined ? {} : { 'x-csrf-token': csrf }) },
        );
        expect(statusAndError(refused), `${method} ${path}`).to.deep.equal([403, 'invalid CSRF token']);
      }
    }
    for (const headers of [
      { ...cookie, 'x-csrf-token': session.csrf_token },
      bearer(session.token),
      { ...cookie, ...bearer(session.token) },
    ]) {
      expect((await service.admin('DELETE', `/api/admin/users/${id}`, undefined, headers)).status).to.equal(404);
    }
    expect((await service.admin('GET', '/api/admin/auth/me', undefined, cookie)).status, 'reading needs none').to.equal(
      200,
    );
    expect(
      (await service.content('GET', '/api/v1/schemas', undefined, { ...cookie, 'x-csrf-token': session.csrf_token }))
        .status,
      'no cookie on the Content API',
    ).to.equal(401);
  });
});

describe('sessions signed with shared secrets', function () {
  this.timeout(30_000);
  const replicas = useReplicas();
  const first = 'the-first-of-two-secrets-1f9c';
  const second = 'the-second-of-two-secrets-07aa';

  it('stay valid after a change of secret and algorithm, until JWT_SECRETS drops the former secret', async () => {
    const directory = replicas.directory();
    const path = { JWT_KEY_PATH: join(directory, 'none.json') };
    const start = (environment: Readonly<Record<string, string>>) =>
      replicas.start({ directory, environment: { ...path, ...environment } });
    const before = await start({ JWT_ALG: 'HS256', JWT_SECRET: first });
    expect(existsSync(path.JWT_KEY_PATH), 'no key file is made').to.equal(false);
    const { token } = (await before.ownerContent('POST', '/api/v1/auth/token', OWNER)).json<Session>();
    expect(decodeProtectedHeader(token)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    const jwks = (await before.ownerContent('GET', '/.well-known/jwks.json')).json<{
      keys: { use: string; kid: string }[];
    }>();
    expect(
      jwks.keys.map(({ kid }) => kid),
      'the key of the audit seals alone',
    ).to.have.length(1);

    const me = async (replica: typeof before) =>
      (await replica.owner('GET', '/api/admin/auth/me', undefined, bearer(token))).status;
    expect(await me(before)).to.equal(200);
    const during = await start({ JWT_ALG: 'HS256', JWT_SECRET: second, JWT_SECRETS: first });
    expect(await me(during)).to.equal(200);
    expect((await during.owner('GET', '/api/admin/auth/me')).status, 'its own').to.equal(200);
    const byKey = await start({ JWT_SECRET: second, JWT_SECRETS: `${first},another-former-secret-5b` });
    expect(await me(byKey)).to.equal(200);
    for (const environment of [{ JWT_ALG: 'HS256', JWT_SECRET: second }, { JWT_SECRET: first }])
      expect(await me(await start(environment))).to.equal(401);
  });
});
