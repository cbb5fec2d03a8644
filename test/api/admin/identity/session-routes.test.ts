import { expect } from 'chai';
import { type JSONWebKeySet, createLocalJWKSet, jwtVerify } from 'jose';
import { eventually } from '../../../support/eventually.ts';
import { statusAndError } from '../../../support/http.ts';
import { OWNER, bearer, newUser, signInAs, useIdentity, useOwnedIdentity } from '../../../support/identity-process.ts';
import { SETUP_TOKEN, type Session } from '../../../support/owner.ts';

const UNKNOWN = { email: 'nobody@palimpsest.test', password: 'Correct-Horse-7-battery' };

describe('setup', () => {
  const { admin } = useIdentity();

  it('is required until the first account exists, and creates one account for concurrent requests', async () => {
    expect((await admin('GET', '/api/admin/setup')).json()).to.deep.equal({ setup_required: true });

    const wrong = await admin('POST', '/api/admin/setup', { ...OWNER, setup_token: 'wrong-token-of-16-chars' });
    expect(statusAndError(wrong)).to.deep.equal([403, 'invalid setup token']);
    expect((await admin('POST', '/api/admin/setup', { ...OWNER })).status).to.equal(403);

    const weak = await admin('POST', '/api/admin/setup', {
      email: OWNER.email,
      password: 'weak',
      setup_token: SETUP_TOKEN,
    });
    expect(weak.status).to.equal(422);
    expect(weak.json<{ error: string; fields: unknown[] }>().error).to.equal('password does not meet the policy');
    expect(weak.json<{ fields: unknown[] }>().fields).to.not.be.empty;

    const racers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        admin(
          'POST',
          '/api/admin/setup',
          { ...OWNER, email: `owner-${n}@palimpsest.test` },
          { 'x-setup-token': SETUP_TOKEN },
        ),
      ),
    );
    const winners = racers.filter(({ status }) => status === 201);
    expect(winners).to.have.length(1);
    for (const loser of racers.filter(({ status }) => status !== 201)) {
      expect(statusAndError(loser)).to.deep.equal([409, 'setup is already complete']);
    }
    const session = winners[0]!.json<Session>();
    expect(session.user.roles).to.deep.equal(['super_admin']);
    expect(winners[0]!.headers['set-cookie']).to.match(/^sys_session=[^;]+; /);
    expect((await admin('GET', '/api/admin/setup')).json()).to.deep.equal({ setup_required: false });
    expect((await admin('GET', '/api/admin/users', undefined, bearer(session.token))).json<unknown[]>()).to.have.length(
      1,
    );
    expect(
      (await admin('POST', '/api/admin/setup', { ...OWNER, setup_token: 'wrong-token-of-16-chars' })).status,
    ).to.equal(409);
  });
});

describe('sign-in', () => {
  const { admin, content, owner } = useOwnedIdentity();

  it('answers the credentials of a session and sets the cookie', async () => {
    const reply = await admin('POST', '/api/admin/auth/login', {
      email: '  OWNER@palimpsest.TEST ',
      password: OWNER.password,
    });
    expect(reply.status).to.equal(200);
    const session = reply.json<Session>();
    expect(session).to.have.all.keys('token', 'csrf_token', 'refresh_token', 'expires_in', 'user');
    expect(session.user).to.deep.equal({ id: owner.user.id, email: 'owner@palimpsest.test', roles: ['super_admin'] });
    expect(session.expires_in).to.equal(900);
    expect(reply.headers['set-cookie']).to.equal(
      `sys_session=${session.token}; Max-Age=900; Path=/; HttpOnly; SameSite=Lax`,
    );
    expect(reply.headers['cache-control']).to.equal('no-store');
    const me = await admin('GET', '/api/admin/auth/me', undefined, bearer(session.token));
    expect(me.json()).to.deep.equal({ id: owner.user.id, email: 'owner@palimpsest.test', roles: ['super_admin'] });
    const [user] = (await admin('GET', '/api/admin/users', undefined, bearer(session.token))).json<
      { last_login_at: string }[]
    >();
    expect(Date.parse(user!.last_login_at)).to.be.closeTo(Date.now(), 10_000);
  });

  it('answers every wrong attempt in the same way', async () => {
    const disabled = await newUser(admin, owner);
    await admin('PUT', `/api/admin/users/${disabled.id}/state`, { disabled: true }, bearer(owner.token));
    // Five failures lock an account, so do not use the owner's.
    const [one, other] = [await newUser(admin, owner), await newUser(admin, owner)];
    const attempts = [
      UNKNOWN,
      { email: 'no address at all', password: 'x' },
      { email: one.email, password: 'Wrong-Password-1' },
      { email: one.email, password: '' },
      { email: other.email, password: 'x'.repeat(4000) },
      { email: other.email, password: other.password, tenant: 'acme' },
      { email: OWNER.email, password: OWNER.password, tenant: 'no such' },
      { email: disabled.email, password: disabled.password },
      { email: disabled.email, password: 'Wrong-Password-1' },
    ];
    const bodies = new Set<string>();
    for (const attempt of attempts) {
      for (const [call, path] of [
        [admin, '/api/admin/auth/login'],
        [content, '/api/v1/auth/token'],
      ] as const) {
        const reply = await call('POST', path, attempt);
        expect(statusAndError(reply)).to.deep.equal([401, 'invalid credentials']);
        expect(Object.keys(reply.headers)).to.not.include('set-cookie');
        bodies.add(reply.text);
      }
    }
    expect(bodies).to.have.length(1);
  });

  it('works on the Content API, without a cookie', async () => {
    const reply = await content('POST', '/api/v1/auth/token', { ...OWNER, tenant: 'default' });
    expect(reply.status).to.equal(200);
    expect(reply.headers['set-cookie']).to.equal(undefined);
    const { token, expires_in } = reply.json<Session>();
    expect(expires_in).to.equal(900);
    expect((await content('GET', '/api/v1/content/post', undefined, bearer(token))).status).to.equal(200);
  });

  it('signs tokens with EdDSA and a key of the published set', async () => {
    const jwks = (await content('GET', '/.well-known/jwks.json')).json<JSONWebKeySet>();
    expect(jwks.keys).to.have.length(1);
    expect(jwks.keys[0]).to.have.all.keys('kty', 'crv', 'x', 'kid', 'alg', 'use');
    const { payload, protectedHeader } = await jwtVerify(owner.token, createLocalJWKSet(jwks));
    expect(protectedHeader).to.deep.equal({ alg: 'EdDSA', kid: 'test', typ: 'JWT' });
    expect(payload).to.include({ sub: owner.user.id, tenant: 'default' });
    expect(payload['roles']).to.deep.equal(['super_admin']);
    expect(payload.exp! - payload.iat!).to.equal(900);
    expect(JSON.stringify(payload)).to.not.contain('palimpsest.test');
  });

  it('accepts the cookie on the Admin API only, and requires its CSRF token for requests that change data', async () => {
    const session = await signInAs(admin, OWNER);
    const cookie = { cookie: `other=1; sys_session=${session.token}` };
    expect((await admin('GET', '/api/admin/auth/me', undefined, cookie)).status).to.equal(200);
    expect((await content('GET', '/api/v1/content/post', undefined, cookie)).status).to.equal(401);
    for (const csrf of [undefined, 'wrong', owner.csrf_token]) {
      const reply = await admin('POST', '/api/admin/auth/logout', undefined, {
        ...cookie,
        ...(csrf === undefined ? {} : { 'x-csrf-token': csrf }),
      });
      expect(statusAndError(reply)).to.deep.equal([403, 'invalid CSRF token']);
    }
    const reply = await admin('POST', '/api/admin/auth/logout', undefined, {
      ...cookie,
      'x-csrf-token': session.csrf_token,
    });
    expect(reply.status).to.equal(204);
    expect(reply.headers['set-cookie']).to.match(/^sys_session=; Max-Age=0; /);
    expect((await admin('GET', '/api/admin/auth/me', undefined, cookie)).status).to.equal(401);
  });

  it('refuses tokens that were altered, use another algorithm or are malformed', async () => {
    const [head, body, signature] = owner.token.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const tokens = [
      `${head}.${encode({ ...claims, tenant: 'acme' })}.${signature}`,
      `${encode({ alg: 'none' })}.${body}.`,
      `${encode({ alg: 'HS256', kid: 'test' })}.${body}.${signature}`,
      owner.token.slice(0, -3),
      'x',
      'a.b.c',
      'x'.repeat(10_000),
    ];
    for (const token of tokens)
      expect((await admin('GET', '/api/admin/auth/me', undefined, bearer(token))).status, token.slice(0, 60)).to.equal(
        401,
      );
  });
});

describe('sessions', () => {
  const { admin, content, process, owner } = useOwnedIdentity();
  const me = (token: string) =>
    admin('GET', '/api/admin/auth/me', undefined, bearer(token)).then(({ status }) => status);
  const refresh = (refresh_token: string) => admin('POST', '/api/admin/auth/refresh', { refresh_token });

  it('continue with the next refresh token', async () => {
    let { refresh_token: token } = await signInAs(admin, OWNER);
    for (let round = 0; round < 3; round += 1) {
      const reply = await refresh(token);
      expect(reply.status).to.equal(200);
      const next = reply.json<Session>();
      expect(next).to.have.all.keys('token', 'csrf_token', 'refresh_token', 'expires_in', 'user');
      expect(next.refresh_token).to.not.equal(token);
      expect(await me(next.token)).to.equal(200);
      token = next.refresh_token;
    }
  });

  it('end with all their refresh tokens when a used one is sent again', async () => {
    const first = await signInAs(admin, OWNER);
    const second = (await refresh(first.refresh_token)).json<Session>();
    const other = await signInAs(admin, OWNER);
    const reused = await refresh(first.refresh_token);
    expect(statusAndError(reused)).to.deep.equal([401, 'invalid refresh token']);
    expect((await refresh(second.refresh_token)).status).to.equal(401);
    await eventually(async () => {
      expect([await me(first.token), await me(second.token)]).to.deep.equal([401, 401]);
    });
    expect(await me(other.token)).to.equal(200);
  });

  it('end when one refresh token is used twice at once: one request succeeds', async () => {
    const { refresh_token } = await signInAs(admin, OWNER);
    const replies = await Promise.all(Array.from({ length: 10 }, () => refresh(refresh_token)));
    const winners = replies.filter(({ status }) => status === 200);
    expect(winners).to.have.length(1);
    expect(replies.filter(({ status }) => status === 401)).to.have.length(9);
    expect((await refresh(winners[0]!.json<Session>().refresh_token)).status).to.equal(401);
  });

  it('refuse unknown refresh tokens', async () => {
    for (const token of ['', 'x', 'A'.repeat(43), owner.token.slice(0, 1000)])
      expect((await refresh(token)).status).to.equal(401);
    expect((await admin('POST', '/api/admin/auth/refresh', {})).status).to.equal(422);
    expect((await admin('POST', '/api/admin/auth/refresh', { refresh_token: 7 })).status).to.equal(422);
  });

  it('end at logout, together with the session of a named refresh token of the same user', async () => {
    const [session, another, foreign] = [
      await signInAs(admin, OWNER),
      await signInAs(admin, OWNER),
      await signInAs(admin, await newUser(admin, owner)),
    ];
    const out = await admin(
      'POST',
      '/api/admin/auth/logout',
      { refresh_token: foreign.refresh_token },
      bearer(session.token),
    );
    expect([out.status, out.text]).to.deep.equal([204, '']);
    expect(await me(session.token)).to.equal(401);
    expect((await refresh(session.refresh_token)).status).to.equal(401);
    expect(await me(foreign.token)).to.equal(200);
    const third = await signInAs(admin, OWNER);
    await admin('POST', '/api/admin/auth/logout', { refresh_token: another.refresh_token }, bearer(third.token));
    expect(await me(another.token)).to.equal(401);
    expect((await admin('POST', '/api/admin/auth/logout')).status).to.equal(401);
  });

  const endings: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    'the user is disabled': (id) =>
      admin('PUT', `/api/admin/users/${id}/state`, { disabled: true }, bearer(owner.token)),
    'the user is deleted': (id) => admin('DELETE', `/api/admin/users/${id}`, undefined, bearer(owner.token)),
    'the roles are replaced': (id) =>
      admin('PUT', `/api/admin/users/${id}/roles`, { roles: ['admin'] }, bearer(owner.token)),
    'the password is set': (id) =>
      admin('PUT', `/api/admin/users/${id}/password`, { password: 'Yet-Another-Pass-2' }, bearer(owner.token)),
  };
  for (const [cause, end] of Object.entries(endings)) {
    it(`end on both APIs when ${cause}`, async () => {
      const user = await newUser(admin, owner);
      const sessions = [await signInAs(admin, user), await signInAs(admin, user)];
      for (const { token } of sessions) expect(await me(token)).to.equal(200);
      await end(user.id);
      for (const { token, refresh_token } of sessions) {
        expect(await me(token)).to.equal(401);
        expect((await content('GET', '/api/v1/content/post', undefined, bearer(token))).status).to.equal(401);
        expect((await refresh(refresh_token)).status).to.equal(401);
      }
    });
  }

  it('end when they expire, also when they are cached', async () => {
    const session = await signInAs(admin, OWNER);
    expect(await me(session.token)).to.equal(200);
    process().advance(901_000);
    expect(await me(session.token)).to.equal(401);
    expect((await refresh(session.refresh_token)).status).to.equal(200);
  });
});
