import { expect } from 'chai';
import type { ClaimRequest } from '../../../application/ports/claims.ts';
import type { PostgresClaims } from '../../../infrastructure/postgres/claims.ts';
import { createClaims } from '../../../infrastructure/postgres/claims.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { useDatabase } from '../../support/database.ts';

describe('claims on unique values', () => {
  const database = useDatabase();
  const key = Buffer.alloc(32, 7);
  const email: ClaimRequest = { tenant: 'default', scope: 'user/email', value: 'ada@example.org' };
  const slug: ClaimRequest = { tenant: 'default', scope: 'entry/t/slug', value: 'hello' };
  let claims: PostgresClaims;

  async function states(): Promise<readonly object[]> {
    return database.db().query('select owner, scope, state from operational.claims order by scope');
  }

  /** As if the command had begun two minutes ago. */
  async function age(): Promise<void> {
    await database.db().query(`update operational.claims set unsettled_since = unsettled_since - interval '2 minutes'`);
  }

  beforeEach(async () => {
    claims = createClaims({ database: database.db(), key });
    await database.db().query('truncate operational.claims');
  });

  it('has one winner among a hundred claimants on two pools', async () => {
    const pools = [openDatabase({ url: database.url(), maxConnections: 8 }), openDatabase({ url: database.url(), maxConnections: 8 })];
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => createClaims({ database: pools[n % 2]!, key }).claim(`user-default.${String(n)}`, [email])));
    expect(outcomes.filter((held) => held.length === 0)).to.have.length(1);
    expect(outcomes.filter((held) => held.length === 1)).to.have.length(99);
    await Promise.all(pools.map((pool) => pool.close()));
  });

  it('claims all values or none, and names those that another stream holds', async () => {
    expect(await claims.claim('a', [email])).to.deep.equal([]);
    expect(await claims.claim('b', [slug, email])).to.deep.equal([email]);
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'pending' }]);
  });

  it('leads from a value to the stream that holds it', async () => {
    expect(await claims.ownerOf(email)).to.equal(undefined);
    await claims.claim('a', [email]);
    expect(await claims.ownerOf(email)).to.equal('a');
    expect(await claims.ownerOf({ ...email, tenant: 'acme' })).to.equal(undefined);
    await claims.confirm('a', [], [email]);
    expect(await claims.ownerOf(email)).to.equal(undefined);
  });

  it('tells which values another stream holds, and claims none', async () => {
    await claims.claim('a', [email]);
    expect(await claims.heldByOthers('b', [slug, email])).to.deep.equal([email]);
    expect(await claims.heldByOthers('a', [slug, email])).to.deep.equal([]);
    expect(await claims.heldByOthers('b', [{ ...email, tenant: 'acme' }])).to.deep.equal([]);
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'pending' }]);
  });

  it('does not deadlock when many claim the same values in different orders', async () => {
    const many = Array.from({ length: 10 }, (_, n) => ({ ...slug, value: `v${String(n)}` }));
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => claims.claim(`o${String(n)}`, n % 2 ? many : many.toReversed())));
    expect(outcomes.filter((held) => held.length === 0)).to.have.length(1);
  });

  it('keeps what the same stream holds already', async () => {
    await claims.claim('a', [email]);
    await claims.confirm('a', [email], []);
    expect(await claims.claim('a', [email, slug])).to.deep.equal([]);
    expect(await claims.claim('a', [email, slug, slug])).to.deep.equal([]);
    await claims.abandon('a', [email, slug]);
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'confirmed' }]);
  });

  it('keeps tenants and scopes apart', async () => {
    await claims.claim('a', [email]);
    expect(await claims.claim('b', [{ ...email, tenant: 'acme' }, { ...email, scope: 'user/name' }])).to.deep.equal([]);
  });

  it('sets released values free, but only the stream\'s own', async () => {
    await claims.claim('a', [email]);
    await claims.confirm('b', [], [email]);
    await claims.abandon('b', [email]);
    expect(await claims.claim('b', [email])).to.deep.equal([email]);
    await claims.confirm('a', [], [email]);
    expect(await claims.claim('b', [email])).to.deep.equal([]);
  });

  it('stores no value in clear', async () => {
    await claims.claim('a', [email]);
    expect(JSON.stringify(await database.db().query('select c::text from operational.claims c'))).to.not.include('ada');
  });

  it('assumes values that nobody holds, for the reaper to judge, and takes none from its holder', async () => {
    await claims.claim('a', [email]);
    await claims.confirm('a', [email], []);
    await claims.assume(new Map([['b', [email, slug]], ['c', [{ ...slug, value: 'other' }]]]));
    expect(await states()).to.deep.equal([
      { owner: 'b', scope: 'entry/t/slug', state: 'pending' }, { owner: 'c', scope: 'entry/t/slug', state: 'pending' }, { owner: 'a', scope: 'user/email', state: 'confirmed' },
    ]);
    await age();
    await claims.reap({ heldBy: (owner) => Promise.resolve(owner === 'b' ? [slug] : []) });
    expect(await states()).to.deep.equal([{ owner: 'b', scope: 'entry/t/slug', state: 'confirmed' }, { owner: 'a', scope: 'user/email', state: 'confirmed' }]);
  });

  it('doubts what a scope holds beyond the values given, whoever holds it, and leaves what commands are at to them', async () => {
    const [kept, moved, late] = ['kept', 'moved', 'late'].map((value) => ({ ...slug, value })) as [ClaimRequest, ClaimRequest, ClaimRequest];
    const others = [email, { ...slug, tenant: 'acme' }, { ...slug, scope: 'entry/t/other' }];
    await claims.claim('a', [kept, moved, ...others]);
    await claims.confirm('a', [kept, moved, ...others], []);
    await claims.claim('b', [late]);
    await claims.doubtOthers(slug, new Map([['a', [kept, email]], ['b', [moved]]]));
    await age();
    await claims.claim('b', [late]);
    expect(await claims.reap({ heldBy: () => Promise.resolve([]) }), 'moved').to.equal(1);
    expect(await claims.ownerOf(moved)).to.equal(undefined);
    expect([await claims.ownerOf(kept), await claims.ownerOf(late)]).to.deep.equal(['a', 'b']);
  });

  it('ends scopes of one tenant by what they begin with; doubted ones are asked for should that never come', async () => {
    const foreign = { ...slug, tenant: 'acme' };
    const neighbour = { ...slug, scope: 'entry/t_/slug' };
    await claims.claim('a', [slug, foreign, neighbour]);
    await claims.confirm('a', [slug, foreign, neighbour], []);
    await claims.doubtScopes('default', 'entry/t/');
    await age();
    expect(await claims.reap({ heldBy: () => Promise.resolve([slug]) })).to.equal(0);
    await claims.endScopes('default', 'entry/t/');
    expect(await database.db().query('select tenant_id, scope from operational.claims order by 1')).to.deep.equal([{ tenant_id: 'acme', scope: 'entry/t/slug' }, { tenant_id: 'default', scope: 'entry/t_/slug' }]);
  });

  it('frees what a crashed command left, once its time is over and the stream does not hold it', async () => {
    await claims.claim('a', [email]);
    const nothing = { heldBy: () => Promise.resolve([]) };
    expect(await claims.reap(nothing)).to.equal(0);
    await age();
    expect(await claims.reap(nothing)).to.equal(1);
    expect(await claims.claim('b', [email])).to.deep.equal([]);
  });

  it('frees what a process left that is gone, sooner than what one left that may still run', async () => {
    const gone = { instance: 'host/1/x', isGone: (name: string) => name === 'host/1/x' };
    const left = createClaims({ database: database.db(), key: Buffer.alloc(32, 1), instance: 'host/1/x' });
    const alive = createClaims({ database: database.db(), key: Buffer.alloc(32, 1), instance: 'host/2/x' });
    const judge = createClaims({ database: database.db(), key: Buffer.alloc(32, 1), instance: 'host/3/x', isGone: gone.isGone });
    await left.claim('a', [email]);
    await alive.claim('b', [{ ...email, value: 'byron@example.org' }]);
    await database.db().execute(`update operational.claims set unsettled_since = unsettled_since - interval '20 seconds'`);
    expect(await judge.reap({ heldBy: () => Promise.resolve([]) })).to.equal(1);
    expect(await states()).to.deep.equal([{ owner: 'b', scope: 'user/email', state: 'pending' }]);
  });

  it('confirms what the stream holds when the crash came after the append', async () => {
    await claims.claim('a', [email]);
    await age();
    expect(await claims.reap({ heldBy: (owner) => Promise.resolve(owner === 'a' ? [email] : []) })).to.equal(0);
    expect(await states()).to.deep.equal([{ owner: 'a', scope: 'user/email', state: 'confirmed' }]);
  });

  it('frees a value that a crashed command had given up in its stream', async () => {
    await claims.claim('a', [email]);
    await claims.confirm('a', [email], []);
    const renamed = { ...email, value: 'lovelace@example.org' };
    await claims.claim('a', [renamed], [email]);
    await age();
    expect(await claims.reap({ heldBy: () => Promise.resolve([renamed]) })).to.equal(1);
    expect(await claims.claim('b', [email])).to.deep.equal([]);
    expect(await claims.claim('b', [renamed])).to.deep.equal([renamed]);
  });
});
