import { expect } from 'chai';
import { addressBlock } from '../../../../api/http/address-block.ts';
import type { Reply } from '../../../support/http.ts';
import { OWNER } from '../../../support/owner.ts';
import { useService } from '../../../support/service.ts';

const from = (address: string) => ({ 'x-forwarded-for': address });

describe('sign-ins of one client address', () => {
  // The default limits.
  const { admin, content, owner, database } = useService({
    environment: { TRUSTED_PROXIES: '127.0.0.1/32' },
    start: { protections: {} },
  });
  const login = (address: string, body: unknown = OWNER): Promise<Reply> =>
    admin('POST', '/api/admin/auth/login', body, from(address));
  const token = (address: string, body: unknown = OWNER): Promise<Reply> =>
    content('POST', '/api/v1/auth/token', body, from(address));

  it('are limited to five in 15 minutes over both routes, also successful ones; then 429 answers when to retry', async () => {
    const replies = [
      await login('203.0.113.1'),
      await token('203.0.113.1'),
      await login('203.0.113.1'),
      await token('203.0.113.1'),
      await login('203.0.113.1'),
    ];
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    for (const refused of [await login('203.0.113.1'), await token('203.0.113.1')]) {
      const body = refused.json<{ error: string; code: string; limit: number; remaining: number; reset_at: string }>();
      expect([refused.status, body.error, body.code, body.limit, body.remaining]).to.deep.equal([
        429,
        'rate limit exceeded',
        'rate_limited',
        5,
        0,
      ]);
      const seconds = Number(refused.headers['retry-after']);
      expect(seconds).to.be.within(880, 900);
      expect(Date.parse(body.reset_at)).to.be.closeTo(Date.now() + seconds * 1000, 2_000);
    }
    expect((await login('203.0.113.2')).status, 'another address').to.equal(200);
    await database.db().execute('update operational.rate_counters set ends_at = clock_timestamp()');
    expect((await login('203.0.113.1')).status, 'the next window').to.equal(200);
  });

  it('get the same responses with and without an account', async () => {
    const replies: unknown[] = [];
    for (const [address, email] of [
      ['203.0.113.3', 'nobody@palimpsest.test'],
      ['203.0.113.4', OWNER.email],
    ] as const) {
      const statuses: number[] = [];
      for (let n = 0; n < 6; n += 1)
        statuses.push((await login(address, { email, password: 'Wrong-Password-1' })).status);
      replies.push(statuses);
    }
    expect(replies).to.deep.equal([
      [401, 401, 401, 401, 401, 429],
      [401, 401, 401, 401, 401, 429],
    ]);
    await database.db().execute('delete from operational.rate_counters');
  });

  it('are limited also when they are concurrent', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? login : token)('203.0.113.5', { email: 'nobody@palimpsest.test', password: 'x' }),
      ),
    );
    expect(replies.filter(({ status }) => status === 401)).to.have.length(5);
  });

  it('count an IPv6 network as one client', async () => {
    for (let n = 1; n <= 5; n += 1) expect((await login(`2001:db8:1:2::${n}`)).status).to.equal(200);
    expect((await login('2001:db8:1:2:ffff::1')).status).to.equal(429);
    expect((await login('2001:db8:1:3::1')).status).to.equal(200);
  });

  it('count an IPv6 network as one client on every route that limits client addresses', async () => {
    const email = 'nobody@palimpsest.test';
    const counters = async () => {
      const [row] = await database
        .db()
        .query<{ rows: number; taken: number }>(
          'select count(*)::int as rows, coalesce(sum(taken), 0)::int as taken from operational.rate_counters',
        );
      return row ?? { rows: 0, taken: 0 };
    };
    for (const [path, body] of [
      ['/api/admin/auth/login', { email, password: 'x' }],
      ['/api/admin/auth/password-reset/request', { email }],
      ['/api/admin/auth/magic-link/request', { email }],
      ['/api/admin/auth/magic-link/verify', { token: 'no-such-token' }],
      ['/api/admin/auth/device', {}],
    ] as const) {
      await database.db().execute('delete from operational.rate_counters');
      await admin('POST', path, body, from('2001:db8:7:7::1'));
      const first = await counters();
      expect(first.rows, path).to.be.at.least(1);
      await admin('POST', path, body, from('2001:db8:7:7:ffff::2'));
      const second = await counters();
      expect(second.rows, `${path} counts another address of the network in the same counters`).to.equal(first.rows);
      expect(second.taken, path).to.be.above(first.taken);
      await admin('POST', path, body, from('2001:db8:7:8::1'));
      expect((await counters()).rows, `${path} counts another network apart`).to.equal(first.rows + 1);
    }
    await database.db().execute('delete from operational.rate_counters');
  });

  it('are not counted with an invalid body, and their address is stored nowhere in plain text', async () => {
    for (let n = 0; n < 6; n += 1) expect((await login('203.0.113.6', { email: OWNER.email })).status).to.equal(422);
    expect((await login('203.0.113.6')).status).to.equal(200);
    const rows = await database
      .db()
      .query<{ row: string }>('select to_jsonb(c)::text as row from operational.rate_counters c');
    expect(rows.map(({ row }) => row).join('\n'))
      .to.not.contain('203.0.113')
      .and.to.not.contain(OWNER.email);
  });

  it('do not affect open sessions', async () => {
    expect((await owner('GET', '/api/admin/auth/me', undefined, from('203.0.113.1'))).status).to.equal(200);
  });
});

describe('the address that rate limits count', () => {
  for (const [address, block] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:DB8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['', ''],
    ['no address', 'no address'],
  ]) {
    it(`of "${address ?? ''}" is "${block ?? ''}"`, () => {
      expect(addressBlock(address ?? '')).to.equal(block);
    });
  }
});
