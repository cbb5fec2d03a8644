import { expect } from 'chai';
import type { ClaimRequest } from '../../../application/ports/claims.ts';
import { type PostgresClaims, createClaims } from '../../../infrastructure/postgres/claims.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { useDatabase } from '../../support/database.ts';
import { gate } from '../../support/gate.ts';

describe('claims of unique values', () => {
  const database = useDatabase();
  const key = Buffer.alloc(32, 7);
  const email: ClaimRequest = { tenant: 'default', scope: 'user/email', value: 'ada@example.org' };
  const slug: ClaimRequest = { tenant: 'default', scope: 'entry/t/slug', value: 'hello' };
  let claims: PostgresClaims;

  async function states(): Promise<readonly object[]> {
    return database.db().query('select owner, scope, state from operational.claims order by scope');
  }

  /** Makes the claims two minutes old. */
  async function age(): Promise<void> {
    await database.db().query(`update operational.claims set unsettled_since = unsettled_since - interval '2 minutes'`);
  }

  beforeEach(async () => {
    claims = createClaims({ database: database.db(), key });
    await database.db().query('truncate operational.claims');
  });

  it('have one winner among 100 concurrent claims over two pools', async () => {
    const pools = [
      openDatabase({ url: database.url(), maxConnections: 8 }),
      openDatabase({ url: database.url(), maxConnections: 8 }),
    ];
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        createClaims({ database: pools[n % 2]!, key }).claim({ owner: `user-default.${String(n)}`, claimed: [email] }),
      ),
    );
    expect(outcomes.filter((held) => held.length === 0)).to.have.length(1);
    expect(outcomes.filter((held) => held.length === 1)).to.have.length(99);
    await Promise.all(pools.map((pool) => pool.close()));
  });

  it('of a process that is suspended inside its transaction do not stop others', async () => {
    const paused = openDatabase({ url: database.url(), maxConnections: 1, idleTransactionMs: 300 });
    const claimed = gate();
    const resumed = gate();
    const suspended = createClaims({
      database: {
        ...paused,
        transaction: (work, options) =>
          paused.transaction(async (tx) => {
            const result = await work(tx);
            claimed.open();
            await resumed.opened;
            return result;
          }, options),
      },
      key,
    });
    const lost = suspended.claim({ owner: 'a', claimed: [email] }).then(
      () => 'claimed',
      () => 'failed',
    );
    await claimed.opened;
    expect(await claims.claim({ owner: 'b', claimed: [email] })).to.deep.equal([]);
    resumed.open();
    expect(await lost).to.equal('failed');
    expect(await states()).to.deep.equal([{ owner: 'b', scope: 'user/email', state: 'pending' }]);
    await paused.close();
  });

  it('are made for all values or none; the values claimed by another stream are returned', async () => {
    expect(await claims.claim({ owner: 'a', claimed: [email] })).to.deep.equal([]);
    expect(await claims.claim({ owner: 'b', claimed: [slug, email] })).to.deep.equal([email]);
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'pending' }]);
  });

  it('return the owner stream of a value', async () => {
    expect(await claims.ownerOf(email)).to.equal(undefined);
    await claims.claim({ owner: 'a', claimed: [email] });
    expect(await claims.ownerOf(email)).to.equal('a');
    expect(await claims.ownerOf({ ...email, tenant: 'acme' })).to.equal(undefined);
    await claims.confirm({ owner: 'a', confirmed: [], released: [email] });
    expect(await claims.ownerOf(email)).to.equal(undefined);
  });

  it('return the values claimed by another stream without claiming any', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    expect(await claims.heldByOthers('b', [slug, email])).to.deep.equal([email]);
    expect(await claims.heldByOthers('a', [slug, email])).to.deep.equal([]);
    expect(await claims.heldByOthers('b', [{ ...email, tenant: 'acme' }])).to.deep.equal([]);
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'pending' }]);
  });

  it('do not deadlock when commands claim the same values in different orders', async () => {
    const many = Array.from({ length: 10 }, (_, n) => ({ ...slug, value: `v${String(n)}` }));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        claims.claim({ owner: `o${String(n)}`, claimed: n % 2 ? many : many.toReversed() }),
      ),
    );
    expect(outcomes.filter((held) => held.length === 0)).to.have.length(1);
  });

  it('are kept when the same stream claims a value again', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    await claims.confirm({ owner: 'a', confirmed: [email], released: [] });
    expect(await claims.claim({ owner: 'a', claimed: [email, slug] })).to.deep.equal([]);
    expect(await claims.claim({ owner: 'a', claimed: [email, slug, slug] })).to.deep.equal([]);
    await claims.abandon({ owner: 'a', claimed: [email, slug] });
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'confirmed' }]);
  });

  it('are separate per tenant and scope', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    expect(
      await claims.claim({
        owner: 'b',
        claimed: [
          { ...email, tenant: 'acme' },
          { ...email, scope: 'user/name' },
        ],
      }),
    ).to.deep.equal([]);
  });

  it('are deleted on release, for the releasing stream only', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    await claims.confirm({ owner: 'b', confirmed: [], released: [email] });
    await claims.abandon({ owner: 'b', claimed: [email] });
    expect(await claims.claim({ owner: 'b', claimed: [email] })).to.deep.equal([email]);
    await claims.confirm({ owner: 'a', confirmed: [], released: [email] });
    expect(await claims.claim({ owner: 'b', claimed: [email] })).to.deep.equal([]);
  });

  it('store no value in plain text', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    expect(JSON.stringify(await database.db().query('select c::text from operational.claims c'))).to.not.include('ada');
  });

  it('are added for unclaimed values, for the reaper to check, and never taken from an owner', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    await claims.confirm({ owner: 'a', confirmed: [email], released: [] });
    await claims.backfill(
      new Map([
        ['b', [email, slug]],
        ['c', [{ ...slug, value: 'other' }]],
      ]),
    );
    expect(await states()).to.deep.equal([
      { owner: 'b', scope: 'entry/t/slug', state: 'pending' },
      { owner: 'c', scope: 'entry/t/slug', state: 'pending' },
      { owner: 'a', scope: 'user/email', state: 'confirmed' },
    ]);
    await age();
    await claims.reap({ heldBy: (owner) => Promise.resolve(owner === 'b' ? [slug] : []) });
    expect(await states()).to.deep.equal([
      { owner: 'b', scope: 'entry/t/slug', state: 'confirmed' },
      { owner: 'a', scope: 'user/email', state: 'confirmed' },
    ]);
  });

  it('are marked for the reaper in a scope unless they are given or a command is working on them', async () => {
    const [kept, moved, late] = ['kept', 'moved', 'late'].map((value) => ({ ...slug, value })) as [
      ClaimRequest,
      ClaimRequest,
      ClaimRequest,
    ];
    const others = [email, { ...slug, tenant: 'acme' }, { ...slug, scope: 'entry/t/other' }];
    await claims.claim({ owner: 'a', claimed: [kept, moved, ...others] });
    await claims.confirm({ owner: 'a', confirmed: [kept, moved, ...others], released: [] });
    await claims.claim({ owner: 'b', claimed: [late] });
    await claims.unsettleOthers({
      ...slug,
      values: new Map([
        ['a', [kept, email]],
        ['b', [moved]],
      ]),
    });
    await age();
    await claims.claim({ owner: 'b', claimed: [late] });
    expect(await claims.reap({ heldBy: () => Promise.resolve([]) }), 'moved').to.equal(1);
    expect(await claims.ownerOf(moved)).to.equal(undefined);
    expect([await claims.ownerOf(kept), await claims.ownerOf(late)]).to.deep.equal(['a', 'b']);
  });

  it('are deleted in all scopes with a prefix; the reaper checks those that were marked but not deleted', async () => {
    const foreign = { ...slug, tenant: 'acme' };
    const neighbour = { ...slug, scope: 'entry/t_/slug' };
    await claims.claim({ owner: 'a', claimed: [slug, foreign, neighbour] });
    await claims.confirm({ owner: 'a', confirmed: [slug, foreign, neighbour], released: [] });
    await claims.unsettleScopes({ tenant: 'default', prefix: 'entry/t/' });
    await age();
    expect(await claims.reap({ heldBy: () => Promise.resolve([slug]) })).to.equal(0);
    await claims.releaseScopes({ tenant: 'default', prefix: 'entry/t/' });
    expect(await database.db().query('select tenant_id, scope from operational.claims order by 1')).to.deep.equal([
      { tenant_id: 'acme', scope: 'entry/t/slug' },
      { tenant_id: 'default', scope: 'entry/t_/slug' },
    ]);
  });

  it('of a crashed command are reaped after their time when the stream does not have the value', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    const nothing = { heldBy: () => Promise.resolve([]) };
    expect(await claims.reap(nothing)).to.equal(0);
    await age();
    expect(await claims.reap(nothing)).to.equal(1);
    expect(await claims.claim({ owner: 'b', claimed: [email] })).to.deep.equal([]);
  });

  it('of an exited process are reaped sooner than those of a process that may still run', async () => {
    const gone = { instance: 'host/1/x', hasExited: (name: string) => name === 'host/1/x' };
    const left = createClaims({ database: database.db(), key: Buffer.alloc(32, 1), instance: 'host/1/x' });
    const alive = createClaims({ database: database.db(), key: Buffer.alloc(32, 1), instance: 'host/2/x' });
    const judge = createClaims({
      database: database.db(),
      key: Buffer.alloc(32, 1),
      instance: 'host/3/x',
      hasExited: gone.hasExited,
    });
    await left.claim({ owner: 'a', claimed: [email] });
    await alive.claim({ owner: 'b', claimed: [{ ...email, value: 'byron@example.org' }] });
    await database
      .db()
      .execute(`update operational.claims set unsettled_since = unsettled_since - interval '20 seconds'`);
    expect(await judge.reap({ heldBy: () => Promise.resolve([]) })).to.equal(1);
    expect(await states()).to.deep.equal([{ owner: 'b', scope: 'user/email', state: 'pending' }]);
  });

  it('are confirmed by the reaper when the command crashed after its append', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    await age();
    expect(await claims.reap({ heldBy: (owner) => Promise.resolve(owner === 'a' ? [email] : []) })).to.equal(0);
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'confirmed' }]);
  });

  it('are reaped when a crashed command had released the value in its stream', async () => {
    await claims.claim({ owner: 'a', claimed: [email] });
    await claims.confirm({ owner: 'a', confirmed: [email], released: [] });
    const renamed = { ...email, value: 'lovelace@example.org' };
    await claims.claim({ owner: 'a', claimed: [renamed], released: [email] });
    await age();
    expect(await claims.reap({ heldBy: () => Promise.resolve([renamed]) })).to.equal(1);
    expect(await claims.claim({ owner: 'b', claimed: [email] })).to.deep.equal([]);
    expect(await claims.claim({ owner: 'b', claimed: [renamed] })).to.deep.equal([renamed]);
  });

  it('of other owners are reaped when the check of one owner fails; its own wait behind them', async () => {
    const owners = Array.from({ length: 6 }, (_, n) => `o${String(n)}`);
    for (const owner of owners) await claims.claim({ owner, claimed: [{ ...email, value: `${owner}@example.org` }] });
    await age();
    const failures: string[] = [];
    const checked: string[] = [];
    const options = {
      // Fewer than the owners that fail: they must not use up each run.
      limit: 2,
      heldBy(owner: string) {
        checked.push(owner);
        return owner <= 'o2' ? Promise.reject(new Error(`cannot read ${owner}`)) : Promise.resolve([]);
      },
      onError(owner: string, error: unknown) {
        failures.push(`${owner}: ${String(error)}`);
      },
    };
    let freed = 0;
    for (let runs = 0; runs < 4; runs += 1) freed += await claims.reap(options);
    expect(freed).to.equal(3);
    expect(failures).to.include.members(['o0: Error: cannot read o0', 'o1: Error: cannot read o1']);
    expect(await database.db().query('select owner, state from operational.claims order by owner')).to.deep.equal(
      ['o0', 'o1', 'o2'].map((owner) => ({ owner, state: 'pending' })),
    );
    // The owners whose check failed are checked again later.
    checked.length = 0;
    await age();
    for (let runs = 0; runs < 2; runs += 1)
      await claims.reap({
        ...options,
        heldBy(owner) {
          checked.push(owner);
          return Promise.resolve([]);
        },
      });
    expect(checked.toSorted()).to.deep.equal(['o0', 'o1', 'o2']);
    expect(await states()).to.deep.equal([]);
  });
});
