import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../../../../domain/durations.ts';
import { openInProcessSignals } from '../../../../infrastructure/signals/in-process.ts';
import { eventually } from '../../../support/eventually.ts';
import { statusAndError } from '../../../support/http.ts';
import {
  OWNER,
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentity,
  useIdentityPair,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';
import { withSecondFactor } from './second-factor.ts';

type Token = {
  readonly id: string;
  readonly name: string;
  readonly grants: readonly string[];
  readonly tenant_id: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
  readonly revoked: boolean;
  readonly raw_token: string;
};

const TOKENS = '/api/admin/admin-tokens';
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const daysOf = ({ created_at, expires_at }: Token) => (Date.parse(expires_at) - Date.parse(created_at)) / DAY_MS;
const needsSession = [403, 'This route needs a signed-in session.'];
const unauthenticated = [401, 'authentication required'];

describe('the admin token routes', () => {
  const { admin, content, process, database } = useIdentity({ expirySeconds: 86_400 });
  let owner: Session;
  before(async () => {
    owner = await setUpOwner(admin);
  });
  const call = (method: string, path: string, body?: unknown, token = owner.token) =>
    admin(method, path, body, bearer(token));
  const make = async (body: Readonly<Record<string, unknown>> = {}, token = owner.token): Promise<Token> => {
    const reply = await call(
      'POST',
      TOKENS,
      { name: 'ci', grants: ['users:read'], password: OWNER.password, ...body },
      token,
    );
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.json<Token>();
  };
  /** A route that the token may call. */
  const use = (raw: string) => call('GET', '/api/admin/users', undefined, raw);

  it('create a token, show its secret once, and let it expire after 30 days by default', async () => {
    const reply = await call('POST', TOKENS, {
      name: ' deploy ',
      grants: ['users:read', 'schemas:read', 'users:read'],
      password: OWNER.password,
    });
    expect([reply.status, reply.headers['cache-control']]).to.deep.equal([201, 'no-store']);
    const { raw_token, ...token } = reply.json<Token>();
    expect(raw_token).to.match(/^svcat_[0-9A-Za-z]{40}$/);
    expect(token).to.have.all.keys(
      'id',
      'name',
      'grants',
      'tenant_id',
      'created_by',
      'created_at',
      'expires_at',
      'last_used_at',
      'revoked',
    );
    expect(token).to.deep.include({
      name: 'deploy',
      grants: ['users:read', 'schemas:read'],
      tenant_id: 'default',
      created_by: owner.user.id,
      last_used_at: null,
      revoked: false,
    });
    expect(daysOf({ ...token, raw_token })).to.equal(30);
    const listed = await call('GET', `${TOKENS}?count=true&limit=1`);
    expect(listed.json()).to.deep.equal([token]);
    expect(listed.headers['x-total-count']).to.equal('1');
    const stored = await database
      .db()
      .query(
        'select data::text from eventstore.events union all select to_jsonb(t)::text from rm_identity.admin_tokens t',
      );
    expect(JSON.stringify(stored)).to.not.contain(raw_token.slice(6));
    expect(daysOf(await make({ expires_at: inDays(90) }))).to.be.closeTo(90, 0.01);
  });

  it('refuse an invalid token with the reason', async () => {
    const ask = async (body: Readonly<Record<string, unknown>>) =>
      statusAndError(
        await call('POST', TOKENS, { name: 'x', grants: ['users:read'], password: OWNER.password, ...body }),
      );
    expect(await ask({ grants: ['users:read', 'users:write'] })).to.deep.equal([422, 'unknown grant: users:write']);
    expect(await ask({ grants: ['toString'] })).to.deep.equal([422, 'unknown grant: toString']);
    expect(await ask({ expires_at: inDays(91) })).to.deep.equal([422, 'an admin token expires at most 90 days away']);
    for (const body of [
      { expires_at: inDays(-1) },
      { expires_at: 'soon' },
      { name: ' ' },
      { name: 'x'.repeat(201) },
      { name: 7 },
      { grants: [] },
      { grants: 'users:read' },
      { id: 'mine' },
    ]) {
      expect(await ask(body), JSON.stringify(body)).to.deep.equal([422, 'validation failed']);
    }
    expect(await ask({ password: undefined })).to.deep.equal([403, 'password or mfa_code is required']);
    expect(await ask({ password: 'Wrong-Password-1' })).to.deep.equal([403, 'invalid password']);
    expect(
      statusAndError(await call('POST', `${TOKENS}/${randomUUID()}/rotate`, { password: OWNER.password })),
    ).to.deep.equal([404, 'admin token not found']);
    expect(statusAndError(await call('DELETE', `${TOKENS}/no-id`))).to.deep.equal([404, 'admin token not found']);
    expect(statusAndError(await call('GET', `${TOKENS}/${randomUUID()}/requests`))).to.deep.equal([
      404,
      'admin token not found',
    ]);
  });

  it('create a token with a code of the second factor', async () => {
    const {
      session: { token },
      recoveryCodes,
      code,
    } = await withSecondFactor(process(), owner, ['admin']);
    const made = await call('POST', TOKENS, { name: 'x', grants: ['users:read'], mfa_code: recoveryCodes[0] }, token);
    expect(made.status, made.text).to.equal(201);
    expect(
      statusAndError(
        await call('POST', TOKENS, { name: 'x', grants: ['users:read'], mfa_code: recoveryCodes[0] }, token),
      ),
    ).to.deep.equal([401, 'invalid code']);
    expect(
      (await call('POST', `${TOKENS}/${made.json<Token>().id}/rotate`, { mfa_code: code() }, token)).status,
    ).to.equal(201);
  });

  it('count wrong passwords towards the lockout of the account', async () => {
    const person = await newUser(admin, owner, ['admin']);
    const { token } = await signInAs(admin, person);
    for (let n = 0; n < 5; n += 1)
      expect(
        (await call('POST', TOKENS, { name: 'x', grants: ['users:read'], password: 'Wrong-Password-1' }, token)).status,
      ).to.equal(403);
    expect(
      statusAndError(
        await call('POST', TOKENS, { name: 'x', grants: ['users:read'], password: person.password }, token),
      ),
    ).to.deep.equal([403, 'invalid password']);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/login', { email: person.email, password: person.password })),
    ).to.deep.equal([401, 'invalid credentials']);
    await database.db().execute('delete from operational.rate_counters');
  });

  it('accept a token on the Admin API and in its tenant only, and refuse a bad token also beside a valid cookie, key or header', async () => {
    const { raw_token } = await make();
    expect((await use(raw_token)).status).to.equal(200);
    expect(statusAndError(await content('GET', '/api/v1/content/post', undefined, bearer(raw_token)))).to.deep.equal(
      unauthenticated,
    );
    for (const bad of [
      `svcat_${'A'.repeat(40)}`,
      'svcat_',
      `${raw_token}x`,
      raw_token.slice(0, -1),
      `svcat_${'A'.repeat(9_000)}`,
    ])
      expect(statusAndError(await use(bad)), bad.slice(0, 60)).to.deep.equal(unauthenticated);
    expect(statusAndError(await admin('GET', '/api/admin/users', undefined, { 'x-api-key': raw_token }))).to.deep.equal(
      unauthenticated,
    );
    expect((await call('POST', '/api/admin/tenants', { slug: 'acme' })).status).to.equal(201);
    const elsewhere = { ...bearer(owner.token), 'x-tenant-id': 'acme' };
    const foreign = (
      await admin('POST', TOKENS, { name: 'x', grants: ['users:read'], password: OWNER.password }, elsewhere)
    ).json<Token>();
    expect(foreign.tenant_id).to.equal('acme');
    expect((await admin('GET', TOKENS, undefined, elsewhere)).json<Token[]>().map(({ id }) => id)).to.deep.equal([
      foreign.id,
    ]);
    expect(statusAndError(await call('DELETE', `${TOKENS}/${foreign.id}`))).to.deep.equal([
      404,
      'admin token not found',
    ]);
    // No user is a member of acme, the tenant of the token. The empty list shows that the header is ignored.
    expect(
      (
        await admin('GET', '/api/admin/users', undefined, { ...bearer(foreign.raw_token), 'x-tenant-id': 'default' })
      ).json(),
    ).to.deep.equal([]);
    expect((await call('PUT', '/api/admin/tenants/acme', { disabled: true })).status).to.equal(200);
    expect(statusAndError(await use(foreign.raw_token))).to.deep.equal([403, 'tenant is disabled']);
  });

  it("list the members of the token's tenant, with their roles in it", async () => {
    const [{ raw_token }, person] = [await make(), await newUser(admin, owner, ['editor'])];
    const seen = (await use(raw_token)).json<{ id: string; email: string; roles: string[] }[]>();
    expect(seen.find(({ id }) => id === person.id)).to.deep.include({ email: person.email, roles: ['editor'] });
    expect(statusAndError(await call('POST', '/api/admin/users', {}, raw_token))).to.deep.equal(needsSession);
  });

  it('refuse to manage tokens and API keys with a token, and tokens with an API key or as an editor', async () => {
    const { id, raw_token } = await make();
    const key = (await call('POST', '/api/admin/api-keys', { name: 'x', scopes: ['*:*'] })).json<{
      id: string;
      raw_key: string;
    }>();
    const editor = await signInAs(admin, await newUser(admin, owner, ['editor']));
    const own = [
      ['GET', TOKENS],
      ['POST', TOKENS],
      ['GET', `${TOKENS}/grants`],
      ['POST', `${TOKENS}/${id}/rotate`],
      ['DELETE', `${TOKENS}/${id}`],
      ['GET', `${TOKENS}/${id}/requests`],
    ] as const;
    for (const [method, path] of own) {
      expect(statusAndError(await call(method, path, undefined, raw_token)), path).to.deep.equal(needsSession);
      expect(statusAndError(await admin(method, path, undefined, { 'x-api-key': key.raw_key })), path).to.deep.equal(
        needsSession,
      );
      expect(statusAndError(await call(method, path, undefined, editor.token)), path).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
      expect(statusAndError(await admin(method, path)), path).to.deep.equal(unauthenticated);
    }
    const keys = [
      ['GET', ''],
      ['POST', ''],
      ['POST', `/${key.id}/revoke`],
      ['POST', `/${key.id}/rotate`],
      ['DELETE', `/${key.id}`],
      ['GET', `/${key.id}/audit`],
      ['PATCH', `/${key.id}/monthly-limit`],
    ] as const;
    for (const [method, path] of keys)
      expect(
        statusAndError(await call(method, `/api/admin/api-keys${path}`, undefined, raw_token)),
        path,
      ).to.deep.equal(needsSession);
    expect(statusAndError(await call('GET', `/api/admin/usage/api-key/${key.id}`, undefined, raw_token))).to.deep.equal(
      needsSession,
    );
  });

  it('rotate a token: it gets another secret, and the old one is invalid at once', async () => {
    const made = await make({ expires_at: inDays(7) });
    expect(statusAndError(await call('POST', `${TOKENS}/${made.id}/rotate`, {}))).to.deep.equal([
      403,
      'password or mfa_code is required',
    ]);
    expect(statusAndError(await call('POST', `${TOKENS}/${made.id}/rotate`))).to.deep.equal([
      403,
      'password or mfa_code is required',
    ]);
    expect((await use(made.raw_token)).status, 'what failed ends nothing').to.equal(200);
    process().advance(2 * DAY_MS);
    owner = await signInAs(admin, OWNER);
    const reply = await call('POST', `${TOKENS}/${made.id}/rotate`, { password: OWNER.password });
    const rotated = reply.json<Token>();
    expect([reply.status, rotated.id, rotated.created_at, rotated.created_by]).to.deep.equal([
      201,
      made.id,
      made.created_at,
      owner.user.id,
    ]);
    expect(daysOf(rotated), 'as long as it was made for, from now').to.be.closeTo(9, 0.01);
    expect(statusAndError(await use(made.raw_token))).to.deep.equal(unauthenticated);
    expect((await use(rotated.raw_token)).status).to.equal(200);
    process().advance(8 * DAY_MS);
    owner = await signInAs(admin, OWNER);
    expect(statusAndError(await use(rotated.raw_token)), 'expired').to.deep.equal(unauthenticated);
    const requested = new Date(process().now().getTime() + DAY_MS).toISOString();
    const again = (
      await call('POST', `${TOKENS}/${made.id}/rotate`, { password: OWNER.password, expires_at: requested })
    ).json<Token>();
    expect(again.expires_at).to.equal(requested);
    expect((await use(again.raw_token)).status).to.equal(200);
  });

  it('revoke a token at once, keep its record, and refuse to rotate it', async () => {
    const { id, raw_token } = await make();
    expect((await use(raw_token)).status).to.equal(200);
    expect((await call('DELETE', `${TOKENS}/${id}`)).status).to.equal(204);
    expect(statusAndError(await use(raw_token))).to.deep.equal(unauthenticated);
    expect((await call('DELETE', `${TOKENS}/${id}`)).status).to.equal(204);
    expect((await call('GET', TOKENS)).json<Token[]>().find((token) => token.id === id)?.revoked).to.equal(true);
    expect(statusAndError(await call('POST', `${TOKENS}/${id}/rotate`, { password: OWNER.password }))).to.deep.equal([
      409,
      'the admin token is revoked',
    ]);
  });

  it('record every request of a token, also refused ones', async () => {
    const { id, raw_token } = await make();
    await call('GET', '/api/admin/admin-tokens', undefined, raw_token);
    expect(
      (await call('GET', TOKENS)).json<Token[]>().find((token) => token.id === id)?.last_used_at,
      'refused',
    ).to.equal(null);
    await call('GET', '/api/admin/users?limit=7', undefined, raw_token);
    await call('DELETE', `${TOKENS}/${id}`);
    await use(raw_token);
    const requests = (await call('GET', `${TOKENS}/${id}/requests`)).json<Record<string, unknown>[]>();
    expect(requests.map(({ method, path, status }) => [method, path, status])).to.deep.equal([
      ['GET', '/api/admin/users', 401],
      ['GET', '/api/admin/users', 200],
      ['GET', TOKENS, 403],
    ]);
    expect(requests[0]).to.have.all.keys('id', 'method', 'path', 'status', 'ip', 'ts');
    expect((await call('GET', `${TOKENS}/${id}/requests?limit=1&offset=1`)).json()).to.deep.equal([requests[1]]);
    expect((await call('GET', TOKENS)).json<Token[]>().find((token) => token.id === id)?.last_used_at).to.equal(
      requests[1]?.['ts'],
    );
  });

  it('accept a token only while the user who created its secret is an admin of the tenant', async () => {
    const [leaving, demoted, taking] = [
      await newUser(admin, owner, ['admin']),
      await newUser(admin, owner, ['admin']),
      await newUser(admin, owner, ['admin']),
    ];
    const by = async (person: { readonly email: string; readonly password: string }) =>
      make({ password: person.password }, (await signInAs(admin, person)).token);
    const [first, second, third] = [await by(leaving), await by(demoted), await by(leaving)];
    for (const { raw_token } of [first, second, third]) expect((await use(raw_token)).status).to.equal(200);
    const taken = (
      await call(
        'POST',
        `${TOKENS}/${third.id}/rotate`,
        { password: taking.password },
        (await signInAs(admin, taking)).token,
      )
    ).json<Token>();
    expect((await call('PUT', `/api/admin/users/${leaving.id}/state`, { disabled: true })).status).to.equal(200);
    expect((await call('PUT', `/api/admin/users/${demoted.id}/roles`, { roles: ['editor'] })).status).to.equal(200);
    expect(statusAndError(await use(first.raw_token))).to.deep.equal(unauthenticated);
    expect(statusAndError(await use(second.raw_token))).to.deep.equal(unauthenticated);
    expect((await use(taken.raw_token)).status, 'rotated by somebody else').to.equal(200);
    expect((await call('PUT', `/api/admin/users/${leaving.id}/state`, { disabled: false })).status).to.equal(200);
    expect((await use(first.raw_token)).status).to.equal(200);
  });
});

describe('admin tokens on two processes', () => {
  const { processes } = useIdentityPair({ signals: openInProcessSignals() });

  it('are refused by both processes after their revocation and rotation', async () => {
    const [here, there] = processes();
    const owner = await setUpOwner(here.admin);
    const status = async (raw: string) => (await there.admin('GET', '/api/admin/users', undefined, bearer(raw))).status;
    for (const end of [
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const) {
      const token = (
        await here.admin(
          'POST',
          TOKENS,
          { name: 'x', grants: ['users:read'], password: OWNER.password },
          bearer(owner.token),
        )
      ).json<Token>();
      await eventually(async () => {
        expect(await status(token.raw_token)).to.equal(200);
      });
      await here.admin(
        end[0],
        `${TOKENS}/${token.id}${end[1]}`,
        end[0] === 'POST' ? { password: OWNER.password } : undefined,
        bearer(owner.token),
      );
      await eventually(async () => {
        expect(await status(token.raw_token)).to.equal(401);
      });
    }
  });
});
