import { expect } from 'chai';
import { useService } from '../support/service.ts';

type Weak = {
  readonly error: string;
  readonly fields: readonly { readonly field: string; readonly message: string }[];
};

/** Satisfies every rule except the minimum and maximum length. */
const OF = (bytes: number): string => 'Aa1-'.repeat(bytes / 4);

describe('the password policy', () => {
  const { owner, admin } = useService();
  const create = (email: string, password: string) =>
    owner('POST', '/api/admin/users', { email, password, roles: ['editor'] });

  for (const [password, ...messages] of [
    ['Short-1', 'must have at least 12 characters'],
    ['Short-Pw-1', 'must have at least 12 characters'],
    ['all-lower-case-1', 'must contain an upper-case letter'],
    ['no-upper-case-1', 'must contain an upper-case letter'],
    ['ALL-UPPER-CASE-1', 'must contain a lower-case letter'],
    ['NO-LOWER-CASE-1', 'must contain a lower-case letter'],
    ['No-Digits-Anywhere', 'must contain a digit'],
    ['No-Digit-In-Here', 'must contain a digit'],
    ['Password1234', 'is a common password'],
    [`Aa1${'x'.repeat(70)}`, 'must have at most 72 bytes'],
    [`Aa1${'ä'.repeat(35)}`, 'must have at most 72 bytes'],
    [OF(76), 'must have at most 72 bytes'],
    [OF(132), 'must have at most 128 characters', 'must have at most 72 bytes'],
  ] as const) {
    it(`refuses ${JSON.stringify(password.slice(0, 24))} and does not repeat it: ${messages.join(', ')}`, async () => {
      const reply = await create('somebody@palimpsest.test', password);
      expect(reply.status).to.equal(422);
      expect(reply.json<Weak>().error).to.equal('password does not meet the policy');
      expect(reply.json<Weak>().fields).to.deep.equal(messages.map((message) => ({ field: 'password', message })));
      expect(reply.text).to.not.include(password);
    });
  }

  it('refuses a password with a zero character, which is not well-formed text', async () => {
    expect((await create('somebody@palimpsest.test', 'Zero-\u0000-Character-1')).status).to.equal(422);
  });

  it('accepts a password of 72 bytes, which is all that the hash function uses', async () => {
    expect((await create('longest@palimpsest.test', `Aa1${'x'.repeat(69)}`)).status).to.equal(201);
  });

  it('applies when a super admin sets a password', async () => {
    const { id } = (await create('set@palimpsest.test', 'Quite-Good-Pass-1')).json<{ id: string }>();
    const reply = await owner('PUT', `/api/admin/users/${id}/password`, { password: 'Password1234' });
    expect([reply.status, reply.json<Weak>().fields]).to.deep.equal([
      422,
      [{ field: 'password', message: 'is a common password' }],
    ]);
    expect(
      (await admin('POST', '/api/admin/auth/login', { email: 'set@palimpsest.test', password: 'Quite-Good-Pass-1' }))
        .status,
    ).to.equal(200);
  });
});

describe('PASSWORD_HASH_ALGO=argon2id', () => {
  const { owner, admin, database } = useService({
    environment: {
      PASSWORD_HASH_ALGO: 'argon2id',
      PASSWORD_CHECK_COMMON: 'false',
      PASSWORD_REQUIRE_COMPLEXITY: 'false',
    },
  });

  it('uses all characters of passwords up to 128 characters', async () => {
    const password = OF(128);
    expect(
      (await owner('POST', '/api/admin/users', { email: 'long@palimpsest.test', password, roles: [] })).status,
    ).to.equal(201);
    expect((await admin('POST', '/api/admin/auth/login', { email: 'long@palimpsest.test', password })).status).to.equal(
      200,
    );
    expect(
      (
        await admin('POST', '/api/admin/auth/login', {
          email: 'long@palimpsest.test',
          password: `${password.slice(0, -1)}!`,
        })
      ).status,
    ).to.equal(401);
    const rehashed = await database.db().query(`select 1 from eventstore.events where type = 'UserPasswordRehashed'`);
    expect(rehashed, 'no password is hashed again').to.have.length(0);
  });

  it('skips the disabled checks', async () => {
    expect(
      (
        await owner('POST', '/api/admin/users', {
          email: 'common@palimpsest.test',
          password: 'password1234',
          roles: [],
        })
      ).status,
    ).to.equal(201);
  });
});
