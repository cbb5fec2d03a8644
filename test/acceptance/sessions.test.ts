import { expect } from 'chai';
import { type JSONWebKeySet, createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller, resultOf, statusAndError } from '../support/http.ts';
import { type Session, setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, runCommand, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

type Replica = { readonly process: ServiceProcess; readonly admin: Call; readonly content: Call };

const PASSWORD = 'Another-Good-Pass-1';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('sessions over two processes', function () {
  this.timeout(60_000);
  const running: ServiceProcess[] = [];
  const directory = useDirectory();
  after(async () => {
    await Promise.all(running.map((process) => process.end('SIGKILL')));
  });
  const database = useDatabase();
  let here: Replica;
  let there: Replica;
  let owner: Session;
  let people = 0;

  const environment = (): Readonly<Record<string, string>> => ({
    ...testEnvironment(database.url(), directory()),
    TRUSTED_PROXIES: '127.0.0.1/32',
  });

  async function start(): Promise<Replica> {
    const process = await startServiceProcess(environment());
    running.push(process);
    return { process, admin: caller(() => process.adminUrl), content: caller(() => process.contentUrl) };
  }

  /** Signs in from a new address, because this test does not test the limit per address. */
  async function signIn(
    at: Replica,
    { email, password }: { readonly email: string; readonly password: string },
  ): Promise<Session> {
    people += 1;
    return resultOf<Session>(
      await at.admin(
        'POST',
        '/api/admin/auth/login',
        { email, password },
        { 'x-forwarded-for': `198.51.100.${people}` },
      ),
    );
  }

  async function person(): Promise<{ readonly id: string; readonly email: string; readonly password: string }> {
    people += 1;
    const credentials = { email: `person-${people}@palimpsest.test`, password: PASSWORD };
    const reply = await here.admin(
      'POST',
      '/api/admin/users',
      { ...credentials, roles: ['editor'] },
      bearer(owner.token),
    );
    expect(reply.status, reply.text).to.equal(201);
    return { id: reply.json<{ id: string }>().id, ...credentials };
  }

  before(async function () {
    this.timeout(60_000);
    [here, there] = await Promise.all([start(), start()]);
    owner = await setUpOwner(here.admin);
    await eventually(async () => {
      expect((await there.admin('GET', '/api/admin/auth/me', undefined, bearer(owner.token))).status).to.equal(200);
    });
  });

  it('are signed with one key, regardless of which process started first', async () => {
    const sets = await Promise.all(
      [here, there].map(async ({ content }) => (await content('GET', '/.well-known/jwks.json')).json<JSONWebKeySet>()),
    );
    expect(sets[0]).to.deep.equal(sets[1]);
    expect((await stat(join(directory(), 'jwt_key.json'))).mode & 0o777).to.equal(0o600);
  });

  const endings: Readonly<Record<string, (id: string) => Promise<{ readonly status: number }>>> = {
    'the user is disabled': (id) =>
      here.admin('PUT', `/api/admin/users/${id}/state`, { disabled: true }, bearer(owner.token)),
    'the user is deleted': (id) => here.admin('DELETE', `/api/admin/users/${id}`, undefined, bearer(owner.token)),
    'the roles are replaced': (id) =>
      here.admin('PUT', `/api/admin/users/${id}/roles`, { roles: ['admin'] }, bearer(owner.token)),
    'the password is set': (id) =>
      here.admin('PUT', `/api/admin/users/${id}/password`, { password: 'Yet-Another-Pass-2' }, bearer(owner.token)),
    'the person is erased': (id) => here.admin('POST', '/api/admin/gdpr/erase', { user_id: id }, bearer(owner.token)),
  };
  for (const [cause, end] of Object.entries(endings)) {
    it(`end on the other process when ${cause}, including tokens already issued`, async () => {
      const user = await person();
      const session = await signIn(here, user);
      const used = async () => [
        (await there.content('GET', '/api/v1/schemas', undefined, bearer(session.token))).status,
        (await there.admin('GET', '/api/admin/auth/me', undefined, bearer(session.token))).status,
      ];
      expect(await used(), 'known there by now').to.deep.equal([200, 200]);
      expect((await end(user.id)).status).to.be.oneOf([200, 204]);
      await eventually(async () => {
        expect(await used()).to.deep.equal([401, 401]);
      });
      expect(
        (await there.admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token })).status,
      ).to.equal(401);
    });
  }

  it('end on the other process after a sign-out, including their refresh tokens', async () => {
    const session = await signIn(there, await person());
    expect((await here.admin('POST', '/api/admin/auth/logout', undefined, bearer(session.token))).status).to.equal(204);
    await eventually(async () => {
      expect((await there.admin('GET', '/api/admin/auth/me', undefined, bearer(session.token))).status).to.equal(401);
    });
    expect(
      (await there.admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token })).status,
    ).to.equal(401);
  });

  it('issue one next refresh token for concurrent refreshes on both processes; a reuse revokes all tokens of the session', async () => {
    const session = await signIn(here, await person());
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? here : there).admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token }),
      ),
    );
    const [winner, ...others] = replies.toSorted((a, b) => a.status - b.status);
    expect(winner?.status).to.equal(200);
    for (const reply of others) expect(statusAndError(reply)).to.deep.equal([401, 'invalid refresh token']);
    const next = winner?.json<Session>();
    expect(
      (await there.admin('POST', '/api/admin/auth/refresh', { refresh_token: next?.refresh_token })).status,
      'the family is over',
    ).to.equal(401);
    await eventually(async () => {
      expect((await here.admin('GET', '/api/admin/auth/me', undefined, bearer(next?.token ?? ''))).status).to.equal(
        401,
      );
    });
  });

  it('stay valid after a rotation of the signing key, which both processes load without a restart', async () => {
    const user = await person();
    const before = await signIn(here, user);
    const rotated = await runCommand(['keys', 'rotate'], environment());
    expect(rotated.code, rotated.output).to.equal(0);
    const [next, former] = rotated.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kid: string; signs: boolean; retires_at: string | null });
    expect([next?.signs, next?.retires_at, former?.signs]).to.deep.equal([true, null, false]);
    expect(Date.parse(former?.retires_at ?? '')).to.be.greaterThan(Date.now() + 3_600_000);
    for (const { admin, content } of [here, there]) {
      await eventually(async () => {
        expect(
          (await content('GET', '/.well-known/jwks.json'))
            .json<{ keys: { kid: string }[] }>()
            .keys.map(({ kid }) => kid)
            .slice(0, 2),
        ).to.deep.equal([next?.kid, former?.kid]);
      });
      expect(
        (await admin('GET', '/api/admin/auth/me', undefined, bearer(before.token))).status,
        'by the former key',
      ).to.equal(200);
    }
    const after = await signIn(there, user);
    expect(decodeProtectedHeader(after.token).kid).to.equal(next?.kid);
    expect(decodeProtectedHeader(before.token).kid).to.equal(former?.kid);
    expect((await here.admin('GET', '/api/admin/auth/me', undefined, bearer(after.token))).status).to.equal(200);
    const set = createLocalJWKSet((await here.content('GET', '/.well-known/jwks.json')).json<JSONWebKeySet>());
    for (const { token } of [before, after]) expect((await jwtVerify(token, set)).payload.sub).to.equal(user.id);
    const listed = await runCommand(['keys', 'list'], environment());
    expect(listed.output).to.equal(rotated.output);
    expect(listed.output).to.not.contain('"d"');
    expect((await runCommand(['keys', 'forget'], environment())).code).to.equal(2);
  });
});
