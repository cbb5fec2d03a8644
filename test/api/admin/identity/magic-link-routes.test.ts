import { expect } from 'chai';
import { statusAndError } from '../../../support/http.ts';
import {
  type ProcessOptions,
  bearer,
  newUser,
  setUpOwner,
  useIdentity,
  useIdentityPair,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';
import { CONSOLE, MANY, REQUEST, type Redeemed, VERIFY, personOn, useTenants } from './magic-link-set-up.ts';
import { withSecondFactor } from './second-factor.ts';

describe('magic-link sign-in', function () {
  this.timeout(30_000);
  const { process, admin, database, owner, stranger, ask, redeem, mailsTo, linkOf, tokenFor } = useTenants();

  it('sends a link on the console URL, and signs in with its token', async () => {
    const user = await newUser(admin, owner());
    expect((await ask(user.email.toUpperCase())).status).to.equal(200);
    const link = linkOf(user.email);
    expect(`${link.origin}${link.pathname}`).to.equal(`${CONSOLE}/auth/magic-link/verify`);
    expect([...link.searchParams.keys()]).to.deep.equal(['token']);
    expect(link.searchParams.get('token'), '256 bits').to.match(/^[\w-]{43}$/);
    const reply = await redeem(link.searchParams.get('token') ?? '');
    expect(reply.status, reply.text).to.equal(200);
    const body = reply.json<Redeemed>();
    expect(body).to.have.all.keys(
      'token',
      'access_token',
      'csrf_token',
      'refresh_token',
      'expires_in',
      'user',
      'is_new_user',
      'user_id',
      'email',
    );
    expect(body).to.include({
      access_token: body.token,
      is_new_user: false,
      user_id: user.id,
      email: user.email,
      expires_in: 86_400,
    });
    expect(body.user).to.deep.equal({ id: user.id, email: user.email, roles: ['editor'] });
    expect(reply.headers['set-cookie']).to.match(/^sys_session=.*HttpOnly.*SameSite=Lax/i);
    expect(reply.headers['cache-control']).to.equal('no-store');
    expect((await admin('GET', '/api/admin/auth/me', undefined, bearer(body.token))).json()).to.deep.include({
      id: user.id,
    });
    expect((await admin('POST', '/api/admin/auth/refresh', { refresh_token: body.refresh_token })).status).to.equal(
      200,
    );
  });

  it('answers the same for every address, and sends no mail to an address that cannot sign in', async () => {
    const user = await newUser(admin, owner());
    const disabled = await newUser(admin, owner());
    await admin('PUT', `/api/admin/users/${disabled.id}/state`, { disabled: true }, bearer(owner().token));
    const unknown = stranger();
    const replies = [await ask(user.email), await ask(disabled.email), await ask(unknown)];
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
    expect(Object.keys(replies[0]?.json() ?? {})).to.deep.equal(['message']);
    expect(mailsTo(user.email)).to.have.length(1);
    expect([...mailsTo(disabled.email), ...mailsTo(unknown)]).to.deep.equal([]);
  });

  it('does the same work for an address without an account: stores a record that cannot be redeemed', async () => {
    const count = async () =>
      (await database.db().query<{ n: number }>('select count(*)::int as n from operational.magic_links'))[0]?.n ?? 0;
    const before = await count();
    await ask(stranger());
    expect(await count()).to.equal(before + 1);
  });

  it('accepts a token once', async () => {
    const { email } = await newUser(admin, owner());
    const token = await tokenFor(email);
    expect((await redeem(token)).status).to.equal(200);
    expect(statusAndError(await redeem(token))).to.deep.equal([400, 'invalid or expired magic link']);
  });

  it('accepts a token for ten minutes', async () => {
    const { email } = await newUser(admin, owner());
    const [early, late] = [await tokenFor(email), await tokenFor(email)];
    process().advance(590_000);
    expect((await redeem(early)).status).to.equal(200);
    process().advance(10_000);
    expect(statusAndError(await redeem(late))).to.deep.equal([400, 'invalid or expired magic link']);
  });

  it('refuses an unknown token', async () => {
    for (const token of ['x', 'A'.repeat(43), 'A'.repeat(10_000)])
      expect(statusAndError(await redeem(token))).to.deep.equal([400, 'invalid or expired magic link']);
  });

  it('refuses an account that was disabled or deleted after the request, and keeps the link', async () => {
    const user = await newUser(admin, owner());
    const token = await tokenFor(user.email);
    const setDisabled = (disabled: boolean) =>
      admin('PUT', `/api/admin/users/${user.id}/state`, { disabled }, bearer(owner().token));
    await setDisabled(true);
    expect(statusAndError(await redeem(token))).to.deep.equal([403, 'authentication failed']);
    await setDisabled(false);
    expect((await redeem(token)).status).to.equal(200);
    const gone = await newUser(admin, owner());
    const lost = await tokenFor(gone.email);
    await admin('DELETE', `/api/admin/users/${gone.id}`, undefined, bearer(owner().token));
    expect(statusAndError(await redeem(lost)), 'unknown while accounts are not made').to.deep.equal([
      403,
      'authentication failed',
    ]);
  });

  it('asks for the second factor of the account, consumes the link, and completes the sign-in with the code', async () => {
    const person = await withSecondFactor(process(), owner());
    const token = await tokenFor(person.email);
    const reply = await redeem(token);
    expect(reply.status, reply.text).to.equal(200);
    const body = reply.json<{ challenge_token: string }>();
    expect(body).to.deep.equal({
      mfa_required: true,
      challenge_token: body.challenge_token,
      mfa_methods: ['totp', 'recovery_code'],
    });
    expect(statusAndError(await redeem(token))).to.deep.equal([400, 'invalid or expired magic link']);
    const session = await admin('POST', '/api/admin/auth/mfa-verify', {
      challenge_token: body.challenge_token,
      code: person.code(),
    });
    expect(session.status, session.text).to.equal(200);
    expect(session.json<Session>().user.id).to.equal(person.id);
  });

  it("records the kind of the sign-in as an event and its time in the history, with the client's address sealed", async () => {
    const user = await newUser(admin, owner());
    await redeem(await tokenFor(user.email));
    const methods: unknown[] = [];
    for await (const event of process().eventStore.readStream(`user-default.${user.id}`))
      if (event.type === 'UserSignedIn') methods.push(event.data['method']);
    expect(methods).to.deep.equal(['magic_link']);
    const [entry] = await database
      .db()
      .query<{ row: string; outcome: string; new_user: boolean }>(
        'select to_jsonb(s)::text as row, outcome, new_user from operational.magic_link_sign_ins s where user_id = $1',
        [user.id],
      );
    expect(entry).to.include({ outcome: 'signed_in', new_user: false });
    expect(entry?.row).not.to.contain('127.0.0.1');
  });

  describe('refuses a body', () => {
    const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
      process().advance(1_000);
      return admin('POST', path, body, headers);
    };

    it('without an e-mail address or token, or with an empty one', async () => {
      for (const body of [{}, { email: '' }, { email: '  ' }])
        expect(statusAndError(await post(REQUEST, body)), JSON.stringify(body)).to.deep.equal([
          400,
          'email is required',
        ]);
      for (const body of [{}, { token: '' }])
        expect(statusAndError(await post(VERIFY, body)), JSON.stringify(body)).to.deep.equal([
          400,
          'token is required',
        ]);
    });

    it('that is not a JSON object with a text', async () => {
      for (const [path, field] of [
        [REQUEST, 'email'],
        [VERIFY, 'token'],
      ] as const) {
        for (const text of [
          '{',
          '',
          '[]',
          '"x"',
          'null',
          `{"${field}": 7}`,
          `{"${field}": null}`,
          `{"${field}": {}}`,
        ]) {
          expect(statusAndError(await post(path, text, { 'content-type': 'application/json' })), text).to.deep.equal([
            400,
            'invalid JSON body',
          ]);
        }
      }
    });

    it('with an invalid e-mail address', async () => {
      for (const email of ['nobody', 'a@b', 'a b@c.test', 'a@b@c.test', `${'x'.repeat(300)}@c.test`])
        expect(statusAndError(await post(REQUEST, { email })), email).to.deep.equal([400, 'invalid email format']);
    });

    it('of another media type, with a separate message for forms', async () => {
      for (const path of [REQUEST, VERIFY]) {
        expect(
          statusAndError(await post(path, 'email=x', { 'content-type': 'application/x-www-form-urlencoded' })),
        ).to.deep.equal([415, 'unsupported media type, expected application/json or multipart/form-data']);
        expect(statusAndError(await post(path, 'x', { 'content-type': 'text/plain' }))).to.deep.equal([
          415,
          'unsupported media type, expected application/json or multipart/form-data',
        ]);
        expect(
          statusAndError(await post(path, '--x--', { 'content-type': 'multipart/form-data; boundary=x' })),
        ).to.deep.equal([415, 'content-type must be application/json for multipart/form-data']);
      }
    });
  });
});

describe('magic-link sign-in that is not configured', function () {
  this.timeout(30_000);
  const cases: readonly [string, ProcessOptions['replaced'] & object][] = [
    ['without a console URL', { consoleUrl: undefined }],
    ['without a way to send mail', { mailer: { configured: false, send: () => Promise.resolve() } }],
  ];
  for (const [title, replaced] of cases) {
    describe(title, () => {
      const { admin } = useIdentity({ replaced });
      it('answers 503 on both routes, also for invalid bodies', async () => {
        for (const path of [REQUEST, VERIFY]) {
          for (const body of [{ email: 'a@b.test' }, { token: 'x' }, {}, 'x'])
            expect(statusAndError(await admin('POST', path, body))).to.deep.equal([
              503,
              'magic link sign-in is not configured',
            ]);
        }
      });
    });
  }
});

describe('magic-link sign-in while the challenge store is unavailable', function () {
  this.timeout(30_000);
  let unavailable = false;
  const { process, admin, tokenFor, redeem } = (() => {
    const identity = useIdentity();
    before(() => {
      // The real store, except while `unavailable` is set.
      const { challenges } = identity.process().dependencies;
      const open = challenges.open.bind(challenges);
      Object.assign(challenges, {
        open: (...call: Parameters<typeof open>) =>
          unavailable ? Promise.reject(new Error('connection refused')) : open(...call),
      });
    });
    return { ...identity, ...personOn(identity.process) };
  })();

  it('answers 503, and the same link can be tried again', async () => {
    const owner = await setUpOwner(admin);
    const person = await withSecondFactor(process(), owner);
    const token = await tokenFor(person.email);
    unavailable = true;
    expect(statusAndError(await redeem(token))).to.deep.equal([503, 'authentication is temporarily unavailable']);
    unavailable = false;
    expect((await redeem(token)).json()).to.include({ mfa_required: true });
  });
});

describe('magic-link sign-in on two processes', function () {
  this.timeout(30_000);
  const { processes } = useIdentityPair({ protections: MANY });

  it('accepts one of twenty concurrent redemptions', async () => {
    const [here, there] = processes();
    const user = await newUser(here.admin, await setUpOwner(here.admin));
    const token = await personOn(() => here).tokenFor(user.email);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? here : there).admin('POST', VERIFY, { token })),
    );
    expect(replies.filter(({ status }) => status === 200)).to.have.length(1);
    expect(replies.filter(({ status }) => status === 400)).to.have.length(19);
  });
});
