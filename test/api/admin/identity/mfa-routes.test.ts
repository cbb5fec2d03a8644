import { expect } from 'chai';
import { openInProcessSignals } from '../../../../infrastructure/signals/in-process.ts';
import { codeOf } from '../../../support/authenticator.ts';
import { type Reply, statusAndError } from '../../../support/http.ts';
import {
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentityPair,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';
import { challengeFor, withSecondFactor } from './second-factor.ts';

const MFA = '/api/admin/auth/mfa';
const WRONG = 'not a code';
const BOTH = ['totp', 'recovery_code'];

describe('a second factor', () => {
  const { admin, content, process, database, owner } = useOwnedIdentity({ expirySeconds: 86_400 });

  const verify = (challenge: string, code: string): Promise<Reply> =>
    admin('POST', `${MFA}-verify`, { challenge_token: challenge, code });
  const mfaOf = async (token: string) => (await admin('GET', MFA, undefined, bearer(token))).json();
  /** Advances the clock past the windows of all rate limits. */
  const nextWindow = () => database.db().execute('delete from operational.rate_counters');
  const wrongCode = [401, 'invalid code'];

  it('is set up with the password and enabled with a first code, which answers ten recovery codes', async () => {
    const person = await newUser(admin, owner);
    const { token } = await signInAs(admin, person);
    expect(await mfaOf(token)).to.deep.equal({ enabled: false, methods: [], recovery_codes_left: 0 });
    expect(statusAndError(await admin('POST', `${MFA}/enable`, { code: '123456' }, bearer(token)))).to.deep.equal([
      409,
      'set up an authenticator first',
    ]);
    expect(
      statusAndError(await admin('POST', `${MFA}/setup`, { password: 'Wrong-Password-1' }, bearer(token))),
    ).to.deep.equal([403, 'invalid password']);

    const { secret, otpauth_url } = (
      await admin('POST', `${MFA}/setup`, { password: person.password }, bearer(token))
    ).json<{ secret: string; otpauth_url: string }>();
    expect(secret).to.match(/^[A-Z2-7]{32}$/);
    const url = new URL(otpauth_url);
    expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).to.deep.equal([
      'otpauth:',
      'totp',
      `/Palimpsest:${person.email}`,
    ]);
    expect(Object.fromEntries(url.searchParams)).to.deep.include({
      secret,
      issuer: 'Palimpsest',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    expect((await mfaOf(token))['enabled'], 'not before its first code').to.equal(false);
    expect(statusAndError(await admin('POST', `${MFA}/enable`, { code: '000000' }, bearer(token)))).to.deep.equal(
      wrongCode,
    );

    const enabled = await admin('POST', `${MFA}/enable`, { code: codeOf(secret, process().now()) }, bearer(token));
    const codes = enabled.json<{ recovery_codes: string[] }>().recovery_codes;
    expect([enabled.status, codes.length, new Set(codes).size, enabled.headers['cache-control']]).to.deep.equal([
      200,
      10,
      10,
      'no-store',
    ]);
    expect(await mfaOf(token)).to.deep.equal({ enabled: true, methods: BOTH, recovery_codes_left: 10 });
    const users = (await admin('GET', '/api/admin/users?limit=200', undefined, bearer(owner.token))).json<
      { id: string; mfa_enabled: boolean }[]
    >();
    expect(users.filter(({ mfa_enabled }) => mfa_enabled).map(({ id }) => id)).to.deep.equal([person.id]);
    expect(
      statusAndError(await admin('POST', `${MFA}/setup`, { password: person.password }, bearer(token))),
    ).to.deep.equal([409, 'two-factor sign-in is already enabled']);
    expect(statusAndError(await admin('POST', `${MFA}/enable`, { code: '123456' }, bearer(token)))).to.deep.equal([
      409,
      'two-factor sign-in is already enabled',
    ]);
  });

  it('can be enabled within 15 minutes, and only with the last secret', async () => {
    const person = await newUser(admin, owner);
    const { token } = await signInAs(admin, person);
    const setUp = async () =>
      (await admin('POST', `${MFA}/setup`, { password: person.password }, bearer(token))).json<{ secret: string }>()
        .secret;
    const [first, second] = [await setUp(), await setUp()];
    expect(
      statusAndError(await admin('POST', `${MFA}/enable`, { code: codeOf(first, process().now()) }, bearer(token))),
    ).to.deep.equal(wrongCode);
    process().advance(15 * 60_000);
    const later = (await signInAs(admin, person)).token;
    expect(
      statusAndError(await admin('POST', `${MFA}/enable`, { code: codeOf(second, process().now()) }, bearer(later))),
    ).to.deep.equal([409, 'set up an authenticator first']);
  });

  for (const [api, paths] of [
    ['admin', ['/api/admin/auth/login', '/api/admin/auth/mfa-verify']],
    ['content', ['/api/v1/auth/token', '/api/v1/auth/mfa-verify']],
  ] as const) {
    it(`is required for sign-in on the ${api} API: the password answers a challenge, the code a session`, async () => {
      const call = api === 'admin' ? admin : content;
      const person = await withSecondFactor(process(), owner);
      const first = await call('POST', paths[0], { email: person.email, password: person.password });
      const challenge = first.json<{ challenge_token: string }>().challenge_token;
      expect(first.json()).to.deep.equal({ mfa_required: true, challenge_token: challenge, mfa_methods: BOTH });
      expect([first.status, first.headers['set-cookie'], first.headers['cache-control']]).to.deep.equal([
        200,
        undefined,
        'no-store',
      ]);

      expect(statusAndError(await call('POST', paths[1], { challenge_token: challenge, code: WRONG }))).to.deep.equal(
        wrongCode,
      );
      const code = person.code();
      const second = await call('POST', paths[1], { challenge_token: challenge, code });
      expect(second.json()).to.have.all.keys('token', 'csrf_token', 'refresh_token', 'expires_in', 'user');
      expect(second.headers['set-cookie'] !== undefined).to.equal(api === 'admin');
      expect(
        (await content('GET', '/api/v1/content/post', undefined, bearer(second.json<Session>().token))).status,
      ).to.equal(200);
      const [user] = (await admin('GET', '/api/admin/users?limit=200', undefined, bearer(owner.token)))
        .json<{ id: string; last_login_at: string }[]>()
        .filter(({ id }) => id === person.id);
      expect(Date.parse(user!.last_login_at)).to.be.closeTo(process().now().getTime(), 10_000);

      expect(
        statusAndError(await call('POST', paths[1], { challenge_token: challenge, code: person.code() })),
        'a challenge works once',
      ).to.deep.equal([401, 'invalid or expired challenge']);
    });
  }

  it('sets last_login_at only after the right code', async () => {
    const person = await withSecondFactor(process(), owner);
    const at = async () =>
      (await admin('GET', '/api/admin/users?limit=200', undefined, bearer(owner.token)))
        .json<{ id: string; last_login_at: string }[]>()
        .find(({ id }) => id === person.id)?.last_login_at;
    const before = await at();
    process().advance(60_000);
    await challengeFor(admin, person);
    expect(await at()).to.equal(before);
  });

  it('accepts a code once, at most one step early or late', async () => {
    await nextWindow();
    const person = await withSecondFactor(process(), owner);
    const code = person.code();
    expect((await verify(await challengeFor(admin, person), code)).status).to.equal(200);
    const challenge = await challengeFor(admin, person);
    expect(statusAndError(await verify(challenge, code)), 'used').to.deep.equal(wrongCode);
    const early = codeOf(person.secret, new Date(process().now().getTime() + 60_000));
    expect(statusAndError(await verify(challenge, early)), 'two steps early').to.deep.equal(wrongCode);
    process().advance(30_000);
    expect((await verify(challenge, ` ${early.slice(0, 3)} ${early.slice(3)} `)).status, 'one step early').to.equal(
      200,
    );

    await nextWindow();
    const late = codeOf(person.secret, new Date(process().now().getTime() + 60_000));
    process().advance(90_000);
    expect((await verify(await challengeFor(admin, person), late)).status, 'one step late').to.equal(200);
    const older = codeOf(person.secret, process().now());
    process().advance(60_000);
    expect(statusAndError(await verify(await challengeFor(admin, person), older)), 'two steps late').to.deep.equal(
      wrongCode,
    );
  });

  it('accepts a recovery code once in place of any code, and answers how many are left', async () => {
    await nextWindow();
    const person = await withSecondFactor(process(), owner);
    const [first = '', second = '', third = ''] = person.recoveryCodes;
    const signedIn = await verify(await challengeFor(admin, person), first);
    expect(signedIn.status).to.equal(200);
    const { token } = signedIn.json<Session>();
    expect(await mfaOf(token)).to.deep.equal({ enabled: true, methods: BOTH, recovery_codes_left: 9 });
    expect(statusAndError(await verify(await challengeFor(admin, person), first))).to.deep.equal(wrongCode);
    expect(
      (await verify(await challengeFor(admin, person), second.replaceAll('-', '').toUpperCase())).status,
      'typed as it comes',
    ).to.equal(200);
    expect(
      (await admin('POST', `${MFA}/disable`, { password: person.password, code: third }, bearer(token))).status,
    ).to.equal(204);
    expect(await mfaOf(token)).to.deep.equal({ enabled: false, methods: [], recovery_codes_left: 0 });
  });

  it('is disabled with password and code together', async () => {
    await nextWindow();
    const person = await withSecondFactor(process(), owner);
    const { token } = (await verify(await challengeFor(admin, person), person.code())).json<Session>();
    const disable = (body: object) => admin('POST', `${MFA}/disable`, body, bearer(token));
    expect(statusAndError(await disable({ password: 'Wrong-Password-1', code: person.code() }))).to.deep.equal([
      403,
      'invalid password',
    ]);
    expect(statusAndError(await disable({ password: person.password, code: WRONG }))).to.deep.equal(wrongCode);
    expect((await disable({ password: person.password })).status).to.equal(422);
    const off = await disable({ password: person.password, code: person.code() });
    expect(off.status).to.equal(204);
    expect(statusAndError(await disable({ password: person.password, code: person.code() }))).to.deep.equal([
      409,
      'two-factor sign-in is not enabled',
    ]);
    expect((await signInAs(admin, person)).user.id, 'the password is enough again').to.equal(person.id);
  });

  it('ends a challenge after 5 minutes, with a new password, and with the account', async () => {
    await nextWindow();
    const person = await withSecondFactor(process(), owner);
    const over = [401, 'invalid or expired challenge'];
    const expired = await challengeFor(admin, person);
    process().advance(5 * 60_000);
    expect(statusAndError(await verify(expired, person.code()))).to.deep.equal(over);
    expect(statusAndError(await verify('nobody made this one', person.code()))).to.deep.equal(over);

    const replaced = await challengeFor(admin, person);
    await admin(
      'PUT',
      `/api/admin/users/${person.id}/password`,
      { password: 'Quite-Another-Pass-1' },
      bearer(owner.token),
    );
    expect(statusAndError(await verify(replaced, person.code())), 'the password was replaced').to.deep.equal(over);
    const disabled = await challengeFor(admin, { ...person, password: 'Quite-Another-Pass-1' });
    await admin('PUT', `/api/admin/users/${person.id}/state`, { disabled: true }, bearer(owner.token));
    expect(statusAndError(await verify(disabled, person.code())), 'the account was disabled').to.deep.equal(over);
  });

  it('checks five codes of a user in five minutes, also right ones, then answers 429', async () => {
    await nextWindow();
    const person = await withSecondFactor(process(), owner);
    await nextWindow();
    const challenge = await challengeFor(admin, person);
    for (let n = 0; n < 4; n += 1) expect((await verify(challenge, WRONG)).status).to.equal(401);
    expect((await verify(challenge, person.code())).status).to.equal(200);
    const other = await challengeFor(admin, person);
    const over = await verify(other, person.code());
    expect(statusAndError(over)).to.deep.equal([429, 'rate limit exceeded']);
    const { limit, remaining, reset_at } = over.json<{ limit: number; remaining: number; reset_at: string }>();
    expect([limit, remaining]).to.deep.equal([5, 0]);
    expect(Number(over.headers['retry-after'])).to.be.within(1, 300);
    expect(Date.parse(reset_at)).to.be.within(Date.now(), Date.now() + 300_000);
    await nextWindow();
    expect((await verify(other, person.code())).status, 'the challenge was left alone').to.equal(200);
  });

  it('can be set up three times an hour', async () => {
    const person = await newUser(admin, owner);
    const { token } = await signInAs(admin, person);
    const setUp = () => admin('POST', `${MFA}/setup`, { password: person.password }, bearer(token));
    for (let n = 0; n < 3; n += 1) expect((await setUp()).status).to.equal(200);
    const over = await setUp();
    expect(statusAndError(over)).to.deep.equal([429, 'rate limit exceeded']);
    expect(over.json()['limit']).to.equal(3);
    expect(Number(over.headers['retry-after'])).to.be.within(3_500, 3_600);
  });

  it('counts wrong codes towards the lockout of the account', async () => {
    await nextWindow();
    const person = await withSecondFactor(process(), owner);
    await nextWindow();
    const challenge = await challengeFor(admin, person);
    for (let n = 0; n < 5; n += 1) expect((await verify(challenge, WRONG)).status).to.equal(401);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/login', { email: person.email, password: person.password })),
    ).to.deep.equal([401, 'invalid credentials']);
  });

  it('stores no secret and no code in events', async () => {
    const person = await withSecondFactor(process(), owner);
    const events = await database.db().query<{ data: unknown }>('select data::text as data from eventstore.events');
    const text = events.map(({ data }) => String(data)).join('\n');
    expect(text).to.contain('recovery_codes');
    for (const secret of [
      person.secret,
      ...person.recoveryCodes,
      ...person.recoveryCodes.map((code) => code.replaceAll('-', '')),
    ])
      expect(text).to.not.contain(secret);
  });
});

describe('second-factor codes on two processes', () => {
  const { database, processes } = useIdentityPair({ signals: openInProcessSignals() });

  for (const kind of ['code of the authenticator', 'recovery code'] as const) {
    it(`accepts a ${kind} once when it is sent to both processes at once`, async () => {
      const [here, there] = processes();
      const owner =
        kind === 'recovery code'
          ? await signInAs(here.admin, { email: 'owner@palimpsest.test', password: 'Correct-Horse-7-battery' })
          : await setUpOwner(here.admin);
      const person = await withSecondFactor(here, owner);
      there.advance(here.now().getTime() - there.now().getTime());
      const challenges = await Promise.all([here, there, here, there].map(({ admin }) => challengeFor(admin, person)));
      await database.db().execute('delete from operational.rate_counters');
      const code = kind === 'recovery code' ? person.recoveryCodes[0]! : person.code();
      const replies = await Promise.all(
        challenges.map((challenge, n) =>
          (n % 2 === 0 ? here : there).admin('POST', `${MFA}-verify`, { challenge_token: challenge, code }),
        ),
      );
      expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([200, 401, 401, 401]);
    });
  }

  it('opens one session for a challenge that is sent to both processes at once with two valid codes', async () => {
    const [here, there] = processes();
    const owner = await signInAs(here.admin, { email: 'owner@palimpsest.test', password: 'Correct-Horse-7-battery' });
    const person = await withSecondFactor(here, owner);
    const challenge = await challengeFor(here.admin, person);
    const replies = await Promise.all(
      [here, there].map(({ admin }, n) =>
        admin('POST', `${MFA}-verify`, { challenge_token: challenge, code: person.recoveryCodes[n] }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([200, 401]);
  });
});
