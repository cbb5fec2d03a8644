import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { IdempotencyAttempt } from '../../../application/ports/idempotency-store.ts';
import { createVault } from '../../../infrastructure/crypto/vault.ts';
import { createIdempotencyKeys } from '../../../infrastructure/postgres/idempotency.ts';
import { useDatabase } from '../../support/database.ts';

describe('idempotency keys', () => {
  const database = useDatabase();
  const scope = { tenant: 'default', route: 'POST /api/v1/content/{schema}', caller: 'user:1', key: 'k-1' };
  const response = { status: 201, headers: { etag: '"1"' }, body: '{"id":"ü"}' };
  const keys = (): ReturnType<typeof createIdempotencyKeys> =>
    createIdempotencyKeys({
      database: database.db(),
      vault: createVault({ database: database.db(), encryptionKey: 'a key of at least 32 characters ..' }),
    });

  function repeat(bodyHash = 'h1', of = scope): Promise<IdempotencyAttempt> {
    return keys().begin(of, { bodyHash, requestId: randomUUID() });
  }

  async function begin(bodyHash = 'h1', of = scope): Promise<string> {
    const begun = await repeat(bodyHash, of);
    if (begun.kind !== 'fresh') throw new Error(`expected a fresh key, got ${begun.kind}`);
    return begun.attempt;
  }

  beforeEach(() => database.db().query('truncate operational.idempotency_keys'));

  it('return the first response for the same body', async () => {
    await keys().complete(scope, await begin(), response);
    expect(await repeat()).to.deep.equal({ kind: 'replay', response });
  });

  it('refuse another body, during and after the first request', async () => {
    const attempt = await begin();
    expect(await repeat('h2')).to.deep.equal({ kind: 'mismatch' });
    await keys().complete(scope, attempt, response);
    expect(await repeat('h2')).to.deep.equal({ kind: 'mismatch' });
  });

  it('admit one of several equal concurrent requests', async () => {
    const begun = await Promise.all(Array.from({ length: 20 }, () => repeat()));
    expect(begun.filter(({ kind }) => kind === 'fresh')).to.have.length(1);
    expect(begun.filter(({ kind }) => kind === 'in_progress')).to.have.length(19);
  });

  it('are separate per tenant, route and caller', async () => {
    await begin();
    for (const other of [
      { tenant: 'acme' },
      { route: 'POST /api/admin/webhooks' },
      { caller: 'user:2' },
      { key: 'k-2' },
    ])
      await begin('h2', { ...scope, ...other });
  });

  it('are released when the request had no effect', async () => {
    await keys().abandon(scope, await begin());
    await begin('h2');
  });

  it('consider an unfinished request crashed after 60 s; it can then change nothing', async () => {
    const crashed = await begin();
    await database
      .db()
      .query(`update operational.idempotency_keys set locked_until = locked_until - interval '59 seconds'`);
    expect(await repeat()).to.deep.equal({ kind: 'in_progress' });
    await database
      .db()
      .query(`update operational.idempotency_keys set locked_until = locked_until - interval '2 seconds'`);
    const attempt = await begin();
    await keys().complete(scope, crashed, { ...response, status: 500 });
    await keys().abandon(scope, crashed);
    await keys().complete(scope, attempt, response);
    expect(await repeat()).to.deep.equal({ kind: 'replay', response });
  });

  it('give each attempt of an unfinished request the id and the time of the first', async () => {
    const first = await keys().begin(scope, { bodyHash: 'h1', requestId: randomUUID() });
    if (first.kind !== 'fresh') throw new Error('expected a fresh key');
    expect(first.isRepeat).to.equal(false);
    await keys().suspend(scope, first.attempt);
    expect(await repeat()).to.deep.include({
      kind: 'fresh',
      isRepeat: true,
      requestId: first.requestId,
      begunAt: first.begunAt,
    });
  });

  it('stay bound to their body when the outcome of the request is unknown, for 24 hours', async () => {
    await keys().suspend(scope, await begin());
    expect(await repeat('h2')).to.deep.equal({ kind: 'mismatch' });
    expect(await keys().sweep()).to.equal(0);
    await database.db().query(`update operational.idempotency_keys set expires_at = expires_at - interval '24 hours'`);
    const next = await repeat('h2');
    expect(next).to.include({ kind: 'fresh', isRepeat: false });
  });

  it('expire after 24 hours and are swept', async () => {
    await keys().complete(scope, await begin(), response);
    await begin('h1', { ...scope, key: 'young' });
    expect(await keys().sweep()).to.equal(0);
    await database
      .db()
      .query(`update operational.idempotency_keys set expires_at = expires_at - interval '24 hours' where key = 'k-1'`);
    expect(await keys().sweep()).to.equal(1);
    await begin('h2');
  });

  it('are swept in one run, however many have expired', async () => {
    for (let i = 0; i < 7; i += 1) await begin('h1', { ...scope, key: `old-${String(i)}` });
    await database.db().query(`update operational.idempotency_keys set expires_at = expires_at - interval '24 hours'`);
    expect(await keys().sweep(3)).to.be.at.least(7);
    expect(await database.db().query('select 1 from operational.idempotency_keys')).to.deep.equal([]);
  });
});
