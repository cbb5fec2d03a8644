import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { PROTECTIONS } from '../../../../domain/traffic/protections.ts';
import type { Reply } from '../../../support/http.ts';
import { HIGH_SIGN_IN_LIMITS } from '../../../support/protections.ts';
import {
  type IdentityProcess,
  type ProcessOptions,
  type Session,
  bearer,
  newUser,
  refused,
  setUpOwner,
  useIdentity,
  useIdentityPair,
} from './identity-process.ts';
import { withSecondFactor } from './second-factor.ts';

type Redeemed = Session & {
  readonly access_token: string;
  readonly is_new_user: boolean;
  readonly user_id: string;
  readonly email: string;
};

const REQUEST = '/api/admin/auth/magic-link/request';
const VERIFY = '/api/admin/auth/magic-link/verify';
const CONSOLE = 'https://console.palimpsest.test';
const MANY = {
  ...HIGH_SIGN_IN_LIMITS,
  'magic-link.request-ip': { requests: 10_000, windowSeconds: 900 },
  'magic-link.verify-ip': { requests: 10_000, windowSeconds: 900 },
};

/** The calls of one person on one process. Advances the clock before each call, so that no rate limit is reached. */
function personOn(process: () => IdentityProcess) {
  const ask = (email: string, host = 'console.palimpsest.test'): Promise<Reply> => {
    process().advance(1_000);
    return process().admin('POST', REQUEST, { email }, { host });
  };
  const redeem = (token: string, host = 'console.palimpsest.test'): Promise<Reply> => {
    process().advance(1_000);
    return process().admin('POST', VERIFY, { token }, { host });
  };
  const mailsTo = (email: string) => process().mails.filter(({ to }) => to === email.toLowerCase());
  /** The newest link sent to an address. */
  const linkOf = (email: string): URL => {
    const mail = mailsTo(email).at(-1);
    const link = /^https?:\S+$/m.exec(mail?.text ?? '')?.[0];
    if (link === undefined) throw new Error('no link was mailed');
    return new URL(link);
  };
  const tokenFor = async (email: string, host?: string): Promise<string> => {
    const reply = await ask(email, host);
    if (reply.status !== 200) throw new Error(reply.text);
    return linkOf(email).searchParams.get('token') ?? '';
  };
  return { ask, redeem, mailsTo, linkOf, tokenFor };
}

/** A process with the tenants acme (acme.test, login.acme.test) and other (other.test). */
function useTenants(options: Omit<ProcessOptions, 'url'> = {}) {
  const identity = useIdentity({ protections: MANY, expirySeconds: 86_400, ...options });
  const { process, admin } = identity;
  let owner: Session | undefined;
  before(async () => {
    owner = await setUpOwner(admin);
    for (const [slug, domains] of [
      ['acme', ['acme.test', 'login.acme.test']],
      ['other', ['other.test']],
    ] as const) {
      const made = await admin('POST', '/api/admin/tenants', { slug, domains }, bearer(owner.token));
      if (made.status !== 201) throw new Error(made.text);
    }
  });
  const ownerSession = (): Session => {
    if (!owner) throw new Error('inside tests only');
    return owner;
  };
  async function member(
    tenant: string,
  ): Promise<{ readonly id: string; readonly email: string; readonly password: string }> {
    const person = { email: `${randomUUID()}@palimpsest.test`, password: 'Another-Good-Pass-1' };
    const made = await admin(
      'POST',
      '/api/admin/users',
      { ...person, roles: ['editor'], tenant_id: tenant },
      bearer(ownerSession().token),
    );
    if (made.status !== 201) throw new Error(made.text);
    return { ...person, id: made.json<{ id: string }>().id };
  }
  return {
    ...identity,
    ...personOn(process),
    owner: ownerSession,
    member,
    stranger: () => `${randomUUID()}@palimpsest.test`,
  };
}

describe('magic-link sign-in', function () {
  this.timeout(30_000);
  const { process, admin, database, owner, member, stranger, ask, redeem, mailsTo, linkOf, tokenFor } = useTenants();

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
    expect(refused(await redeem(token))).to.deep.equal([400, 'invalid or expired magic link']);
  });

  it('accepts a token for ten minutes', async () => {
    const { email } = await newUser(admin, owner());
    const [early, late] = [await tokenFor(email), await tokenFor(email)];
    process().advance(590_000);
    expect((await redeem(early)).status).to.equal(200);
    process().advance(10_000);
    expect(refused(await redeem(late))).to.deep.equal([400, 'invalid or expired magic link']);
  });

  it('refuses an unknown token', async () => {
    for (const token of ['x', 'A'.repeat(43), 'A'.repeat(10_000)])
      expect(refused(await redeem(token))).to.deep.equal([400, 'invalid or expired magic link']);
  });

  it('signs in to the tenant of the requesting host, through its hosts and hosts without a tenant', async () => {
    const { email } = await member('acme');
    const claimsOf = (reply: Reply) =>
      JSON.parse(Buffer.from(reply.json<Redeemed>().token.split('.')[1] ?? '', 'base64url').toString()) as {
        tenant: string;
      };
    for (const host of ['console.palimpsest.test', 'acme.test', 'LOGIN.acme.test:8443']) {
      const token = await tokenFor(email, 'acme.test');
      expect(linkOf(email).origin, 'no host is listed').to.equal(CONSOLE);
      const reply = await redeem(token, host);
      expect(reply.status, reply.text).to.equal(200);
      expect(JSON.stringify(claimsOf(reply))).to.contain('"acme"');
      await database.db().execute('truncate operational.rate_counters');
    }
  });

  it('refuses a token through the host of another tenant, and keeps it valid', async () => {
    const { email } = await member('acme');
    const token = await tokenFor(email, 'acme.test');
    expect(refused(await redeem(token, 'other.test'))).to.deep.equal([400, 'invalid or expired magic link']);
    expect((await redeem(token, 'acme.test')).status).to.equal(200);
  });

  it("sends no link to a user who is not a member of the host's tenant", async () => {
    const { email } = await member('acme');
    expect((await ask(email, 'other.test')).status).to.equal(200);
    expect(mailsTo(email)).to.deep.equal([]);
  });

  it('selects the tenant like a password sign-in when the host has no tenant', async () => {
    const { email } = await member('acme');
    const reply = await redeem(await tokenFor(email));
    expect(reply.status).to.equal(200);
    const memberships = await admin(
      'GET',
      '/api/admin/auth/memberships',
      undefined,
      bearer(reply.json<Redeemed>().token),
    );
    expect(memberships.json<{ tenant_id: string }[]>().map(({ tenant_id: tenant }) => tenant)).to.deep.equal(['acme']);
  });

  it('refuses an account that was disabled or deleted after the request, and keeps the link', async () => {
    const user = await newUser(admin, owner());
    const token = await tokenFor(user.email);
    const setDisabled = (disabled: boolean) =>
      admin('PUT', `/api/admin/users/${user.id}/state`, { disabled }, bearer(owner().token));
    await setDisabled(true);
    expect(refused(await redeem(token))).to.deep.equal([403, 'authentication failed']);
    await setDisabled(false);
    expect((await redeem(token)).status).to.equal(200);
    const gone = await newUser(admin, owner());
    const lost = await tokenFor(gone.email);
    await admin('DELETE', `/api/admin/users/${gone.id}`, undefined, bearer(owner().token));
    expect(refused(await redeem(lost)), 'unknown while accounts are not made').to.deep.equal([
      403,
      'authentication failed',
    ]);
  });

  it('answers 403 for a disabled tenant, and keeps the link', async () => {
    const { email } = await member('acme');
    const token = await tokenFor(email, 'acme.test');
    const setDisabled = (disabled: boolean) =>
      admin('PUT', '/api/admin/tenants/acme', { disabled }, bearer(owner().token));
    await setDisabled(true);
    const reply = await redeem(token, 'acme.test');
    await setDisabled(false);
    expect(refused(reply)).to.deep.equal([403, 'tenant is disabled']);
    expect((await redeem(token, 'acme.test')).status).to.equal(200);
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
    expect(refused(await redeem(token))).to.deep.equal([400, 'invalid or expired magic link']);
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
        expect(refused(await post(REQUEST, body)), JSON.stringify(body)).to.deep.equal([400, 'email is required']);
      for (const body of [{}, { token: '' }])
        expect(refused(await post(VERIFY, body)), JSON.stringify(body)).to.deep.equal([400, 'token is required']);
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
          expect(refused(await post(path, text, { 'content-type': 'application/json' })), text).to.deep.equal([
            400,
            'invalid JSON body',
          ]);
        }
      }
    });

    it('with an invalid e-mail address', async () => {
      for (const email of ['nobody', 'a@b', 'a b@c.test', 'a@b@c.test', `${'x'.repeat(300)}@c.test`])
        expect(refused(await post(REQUEST, { email })), email).to.deep.equal([400, 'invalid email format']);
    });

    it('of another media type, with a separate message for forms', async () => {
      for (const path of [REQUEST, VERIFY]) {
        expect(
          refused(await post(path, 'email=x', { 'content-type': 'application/x-www-form-urlencoded' })),
        ).to.deep.equal([415, 'unsupported media type, expected application/json or multipart/form-data']);
        expect(refused(await post(path, 'x', { 'content-type': 'text/plain' }))).to.deep.equal([
          415,
          'unsupported media type, expected application/json or multipart/form-data',
        ]);
        expect(refused(await post(path, '--x--', { 'content-type': 'multipart/form-data; boundary=x' }))).to.deep.equal(
          [415, 'content-type must be application/json for multipart/form-data'],
        );
      }
    });
  });
});

describe('limits of magic-link sign-in', function () {
  this.timeout(30_000);
  const shipped = useTenants({ protections: HIGH_SIGN_IN_LIMITS });

  it('send three links to an address in 15 minutes, and count unknown addresses in the same way', async () => {
    const { email } = await newUser(shipped.admin, shipped.owner());
    for (const address of [email, shipped.stranger()]) {
      for (let n = 0; n < 3; n += 1)
        expect((await shipped.ask(n === 1 ? address.toUpperCase() : address)).status).to.equal(200);
      const over = await shipped.ask(address);
      expect(refused(over)).to.deep.equal([429, 'too many magic link requests - try again in 15 minutes']);
      expect(Number(over.headers['retry-after'])).to.be.within(800, 900);
    }
    expect(shipped.mailsTo(email)).to.have.length(3);
  });

  it('allow 60 requests per client address in 15 minutes', async () => {
    expect(PROTECTIONS['magic-link.request-ip']).to.deep.equal({ requests: 60, windowSeconds: 900 });
    await shipped.database.db().execute('truncate operational.rate_counters');
    for (let n = 0; n < 60; n += 1) expect((await shipped.ask(shipped.stranger())).status).to.equal(200);
    expect(refused(await shipped.ask(shipped.stranger()))).to.deep.equal([
      429,
      'too many magic link requests - try again in 15 minutes',
    ]);
  });

  it('allow 120 redemptions per client address in 15 minutes', async () => {
    for (let n = 0; n < 120; n += 1) expect((await shipped.redeem('x')).status).to.equal(400);
    const over = await shipped.redeem('x');
    expect(refused(over)).to.deep.equal([429, 'too many magic link attempts - try again later']);
    expect(over.headers).to.have.property('retry-after');
  });

  for (const [path, burst, perSecond] of [
    [REQUEST, 10, 5],
    [VERIFY, 20, 10],
  ] as const) {
    it(`allow ${burst} calls of ${path} at once and then ${perSecond} a second, also invalid ones`, async () => {
      shipped.process().advance(60_000);
      const replies = await Promise.all(
        Array.from({ length: burst + 2 * perSecond }, () => shipped.admin('POST', path, {})),
      );
      const refusals = replies.filter(({ status }) => status === 429);
      expect(refusals.length, 'of which a second or less went by').to.be.within(perSecond, 2 * perSecond);
      const [over] = refusals;
      expect(over && refused(over)).to.deep.equal([429, 'rate limit exceeded']);
      expect(over?.json()).to.include({ remaining: 0, limit: burst }).and.to.have.property('reset_at');
      expect(over?.headers['retry-after']).to.equal('1');
    });
  }
});

describe('magic-link sign-in with automatic accounts', function () {
  this.timeout(30_000);
  const { process, admin, owner, stranger, redeem, tokenFor, ask, mailsTo, database } = useTenants({
    magicLinks: { autoCreate: true, autoCreateRoles: ['editor', 'reviewer'] },
  });
  const userOf = async (id: string) =>
    (await admin('GET', '/api/admin/users?limit=200', undefined, bearer(owner().token)))
      .json<{ id: string; roles: string[] }[]>()
      .find((user) => user.id === id);

  it('creates one account for an unknown address, with the roles of the setting', async () => {
    const email = stranger();
    const first = (await redeem(await tokenFor(email))).json<Redeemed>();
    expect(first).to.include({ is_new_user: true, email });
    expect(first.user.roles).to.have.members(['editor', 'reviewer']);
    expect((await userOf(first.user_id))?.roles).to.have.members(['editor', 'reviewer']);
    const second = (await redeem(await tokenFor(email))).json<Redeemed>();
    expect(second).to.include({ is_new_user: false, user_id: first.user_id });
  });

  it('makes the account a member of the tenant of the requesting host', async () => {
    const email = stranger();
    const { token } = (await redeem(await tokenFor(email, 'acme.test'), 'acme.test')).json<Redeemed>();
    const memberships = await admin('GET', '/api/admin/auth/memberships', undefined, bearer(token));
    expect(
      memberships
        .json<{ tenant_id: string; roles: string[] }[]>()
        .map(({ tenant_id: tenant, roles }) => ({ tenant, roles })),
    ).to.deep.equal([{ tenant: 'acme', roles: ['editor', 'reviewer'] }]);
  });

  it('creates one account when two links of one address are redeemed at once', async () => {
    const email = stranger();
    const tokens = [await tokenFor(email), await tokenFor(email)];
    const replies = await Promise.all(tokens.map((token) => redeem(token)));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200]);
    const bodies = replies.map((reply) => reply.json<Redeemed>());
    expect(new Set(bodies.map(({ user_id: id }) => id)).size).to.equal(1);
    expect(bodies.map(({ is_new_user: isNew }) => isNew)).to.have.members([true, false]);
  });

  it('creates the account without a password: it can sign in by links only', async () => {
    const email = stranger();
    await redeem(await tokenFor(email));
    for (const password of ['', 'undefined', 'null'])
      expect((await admin('POST', '/api/admin/auth/login', { email, password })).status).to.equal(401);
  });

  it('does not add an existing account to another tenant', async () => {
    const email = stranger();
    await redeem(await tokenFor(email, 'acme.test'), 'acme.test');
    expect((await ask(email, 'other.test')).status).to.equal(200);
    expect(mailsTo(email)).to.have.length(1);
  });

  it('creates no account in a disabled tenant', async () => {
    const email = stranger();
    const token = await tokenFor(email, 'other.test');
    await admin('PUT', '/api/admin/tenants/other', { disabled: true }, bearer(owner().token));
    const reply = await redeem(token, 'other.test');
    await admin('PUT', '/api/admin/tenants/other', { disabled: false }, bearer(owner().token));
    expect(refused(reply)).to.deep.equal([403, 'tenant is disabled']);
    const made = await database
      .db()
      .query('select 1 from operational.magic_link_sign_ins where new_user and at > $1', [process().now()]);
    expect(made).to.deep.equal([]);
    expect((await redeem(token, 'other.test')).json<Redeemed>()).to.include({ is_new_user: true });
  });
});

describe('magic-link sign-in on listed hosts', function () {
  this.timeout(30_000);
  const { redeem, tokenFor, linkOf, member, newMember } = (() => {
    const tenants = useTenants({ magicLinks: { allowedHosts: ['login.acme.test', 'ported.test:8443'] } });
    return { ...tenants, newMember: () => newUser(tenants.admin, tenants.owner()) };
  })();

  it('builds the link on the listed host of the request, and accepts it on that host only', async () => {
    const { email } = await member('acme');
    const token = await tokenFor(email, 'login.acme.test:1234');
    expect(linkOf(email).href).to.equal(`https://login.acme.test/auth/magic-link/verify?token=${token}`);
    for (const host of ['acme.test', 'console.palimpsest.test', 'other.test', '127.0.0.1'])
      expect(refused(await redeem(token, host)), host).to.deep.equal([400, 'invalid or expired magic link']);
    expect((await redeem(token, 'login.acme.test')).status).to.equal(200);
  });

  it('builds the link on the console URL for unlisted hosts', async () => {
    const { email } = await member('acme');
    await tokenFor(email, 'acme.test');
    expect(linkOf(email).origin).to.equal(CONSOLE);
    await tokenFor(email, 'evil.test');
    expect(linkOf(email).origin).to.equal(CONSOLE);
  });

  it('takes the port from the list, not from the request', async () => {
    const { email } = await newMember();
    await tokenFor(email, 'ported.test:666');
    expect(linkOf(email).origin).to.equal('https://ported.test:8443');
  });

  it('builds the link on the console URL when the listed host belongs to another tenant', async () => {
    const { email } = await member('acme');
    await tokenFor(email, 'ported.test');
    expect(linkOf(email).origin, 'the host resolves no tenant, the link is for acme').to.equal(CONSOLE);
  });
});

describe('magic-link sign-in that requires a tenant', function () {
  this.timeout(30_000);
  const { ask, redeem, mailsTo, tokenFor, member } = useTenants({ magicLinks: { requireResolvedTenant: true } });

  it('answers the same for a host without a tenant, but sends no mail', async () => {
    const { email } = await member('acme');
    const [elsewhere, there] = [await ask(email, 'console.palimpsest.test'), await ask(email, 'acme.test')];
    expect(elsewhere.text).to.equal(there.text);
    expect(elsewhere.status).to.equal(200);
    expect(mailsTo(email)).to.have.length(1);
  });

  it('redeems a link only through the host of a tenant', async () => {
    const { email } = await member('acme');
    const token = await tokenFor(email, 'acme.test');
    expect(refused(await redeem(token, 'console.palimpsest.test'))).to.deep.equal([404, 'tenant not found']);
    expect((await redeem(token, 'acme.test')).status).to.equal(200);
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
            expect(refused(await admin('POST', path, body))).to.deep.equal([
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
    expect(refused(await redeem(token))).to.deep.equal([503, 'authentication is temporarily unavailable']);
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
