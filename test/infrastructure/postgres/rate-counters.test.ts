import { expect } from 'chai';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { type PostgresRateCounters, createRateCounters } from '../../../infrastructure/postgres/rate-counters.ts';
import { useDatabase } from '../../support/database.ts';

describe('rate counters', () => {
  const database = useDatabase();
  const key = Buffer.alloc(32, 5);
  const LOGIN = { scope: 'login/192.0.2.7', limit: 3, windowSeconds: 60 } as const;
  let counters: PostgresRateCounters;

  /** Makes the windows older by the given time. */
  async function age(seconds: number): Promise<void> {
    await database
      .db()
      .query(`update operational.rate_counters set ends_at = ends_at - $1 * interval '1 second'`, [seconds]);
  }
  async function take(
    times: number,
    request: Parameters<PostgresRateCounters['take']>[0] = LOGIN,
  ): Promise<readonly boolean[]> {
    const taken: boolean[] = [];
    for (let n = 0; n < times; n += 1) taken.push((await counters.take(request)).allowed);
    return taken;
  }

  beforeEach(async () => {
    counters = createRateCounters({ database: database.db(), key });
    await database.db().query('truncate operational.rate_counters');
  });

  it('allow calls up to the limit, and return the remaining calls and the time to retry', async () => {
    const first = await counters.take(LOGIN);
    expect(first).to.deep.include({ allowed: true, remaining: 2 });
    expect(first.retryAfter).to.equal(60);
    expect(first.resetAt).to.be.instanceOf(Date);
    expect(await take(3)).to.deep.equal([true, true, false]);
    await age(20);
    const refused = await counters.take(LOGIN);
    expect(refused).to.deep.include({ allowed: false, remaining: 0 });
    expect(refused.retryAfter).to.be.within(1, 40);
  });

  it('revert a call that does not count, in its window only', async () => {
    const [, second] = [await counters.take(LOGIN), await counters.take(LOGIN)];
    await counters.refund({ ...LOGIN, resetAt: second.resetAt });
    expect(await take(3)).to.deep.equal([true, true, false]);
    await counters.refund({ ...LOGIN, resetAt: second.resetAt });
    expect(await take(2), 'a refused call was none to give back').to.deep.equal([true, false]);
    await age(61);
    await counters.take(LOGIN);
    await counters.refund({ ...LOGIN, resetAt: second.resetAt });
    expect((await counters.take(LOGIN)).remaining, 'another window').to.equal(1);
  });

  it('are reset by `clear`', async () => {
    await take(4);
    await counters.clear(LOGIN.scope);
    expect(await take(4)).to.deep.equal([true, true, true, false]);
  });

  it('open a new window with the first call after the end of the previous one; refused calls do not extend a window', async () => {
    expect(await take(5)).to.deep.equal([true, true, true, false, false]);
    await age(59);
    expect(await take(1)).to.deep.equal([false]);
    await age(2);
    expect(await take(4)).to.deep.equal([true, true, true, false]);
  });

  it('allow no more than the limit of 100 concurrent calls over two pools', async () => {
    const pools = [
      openDatabase({ url: database.url(), maxConnections: 8 }),
      openDatabase({ url: database.url(), maxConnections: 8 }),
    ];
    const taken = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        createRateCounters({ database: pools[n % 2]!, key }).take({ ...LOGIN, limit: 10 }),
      ),
    );
    expect(taken.filter(({ allowed }) => allowed)).to.have.length(10);
    await Promise.all(pools.map((pool) => pool.close()));
  });

  it('are separate per scope, and apply a smaller limit or window immediately', async () => {
    expect(await take(3)).to.deep.equal([true, true, true]);
    expect(await take(1, { ...LOGIN, scope: 'login/192.0.2.8' })).to.deep.equal([true]);
    expect(await take(1, { ...LOGIN, limit: 5 })).to.deep.equal([true]);
    expect(await take(1, { ...LOGIN, limit: 2 })).to.deep.equal([false]);
    expect((await counters.take({ ...LOGIN, windowSeconds: 5 })).retryAfter).to.be.at.most(5);
  });

  it('store no scope in plain text, and sweep only ended windows', async () => {
    await take(1);
    await age(120);
    await take(1, { ...LOGIN, scope: 'login/192.0.2.8' });
    const [row] = await database
      .db()
      .query<{ text: string }>('select string_agg(t::text, $1) as text from operational.rate_counters t', [' ']);
    expect(row?.text).to.not.contain('login');
    expect(row?.text).to.not.contain(Buffer.from('login/').toString('hex'));
    expect(await counters.sweep()).to.equal(1);
    expect(await counters.sweep()).to.equal(0);
    expect(await database.db().query('select 1 from operational.rate_counters')).to.have.length(1);
  });
});
