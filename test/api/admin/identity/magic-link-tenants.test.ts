import { expect } from 'chai';
import { type Reply, statusAndError } from '../../../support/http.ts';
import { bearer, newUser } from '../../../support/identity-process.ts';
import { CONSOLE, type Redeemed, useTenants } from './magic-link-set-up.ts';

describe('magic-link sign-in and tenants', function () {
  this.timeout(30_000);
  const { admin, owner, member, ask, redeem, mailsTo, linkOf, tokenFor, database } = useTenants();

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
    expect(statusAndError(await redeem(token, 'other.test'))).to.deep.equal([400, 'invalid or expired magic link']);
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

  it('answers 403 for a disabled tenant, and keeps the link', async () => {
    const { email } = await member('acme');
    const token = await tokenFor(email, 'acme.test');
    const setDisabled = (disabled: boolean) =>
      admin('PUT', '/api/admin/tenants/acme', { disabled }, bearer(owner().token));
    await setDisabled(true);
    const reply = await redeem(token, 'acme.test');
    await setDisabled(false);
    expect(statusAndError(reply)).to.deep.equal([403, 'tenant is disabled']);
    expect((await redeem(token, 'acme.test')).status).to.equal(200);
  });
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
    expect(statusAndError(reply)).to.deep.equal([403, 'tenant is disabled']);
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
      expect(statusAndError(await redeem(token, host)), host).to.deep.equal([400, 'invalid or expired magic link']);
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
    expect(statusAndError(await redeem(token, 'console.palimpsest.test'))).to.deep.equal([404, 'tenant not found']);
    expect((await redeem(token, 'acme.test')).status).to.equal(200);
  });
});
