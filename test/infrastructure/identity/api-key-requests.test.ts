import { expect } from 'chai';
import { v7 } from 'uuid';
import type { ApiKeyRequest } from '../../../application/ports/api-key-requests.ts';
import { createVault } from '../../../infrastructure/crypto/vault.ts';
import { openApiKeyRequests } from '../../../infrastructure/identity/api-key-requests.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('the request log of API keys', () => {
  const database = useDatabase();
  const open = (options: { readonly flushMs?: number; readonly maxQueued?: number; readonly url?: string } = {}) => {
    const { url, ...rest } = options;
    const db = url === undefined ? database.db() : openDatabase({ url });
    const vault = createVault({ database: db, encryptionKey: '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70' });
    return openApiKeyRequests({
      database: db,
      vault,
      logger: recordingLogger(),
      newId: v7,
      now: () => new Date(),
      ...rest,
    });
  };
  const request = (keyId: string, more: Partial<ApiKeyRequest> = {}): ApiKeyRequest => ({
    keyId,
    tenant: 'default',
    method: 'GET',
    path: '/api/v1/content/post',
    status: 200,
    ip: '192.0.2.7',
    bytesIn: 1,
    bytesOut: 2,
    at: new Date('2026-05-01T00:00:00.000Z'),
    ...more,
  });
  const count = async (keyId: string) =>
    (await database.db().query('select 1 from operational.api_key_requests where key_id = $1', [keyId])).length;

  it('writes queued requests periodically, and lists those of one key of one tenant, newest first', async () => {
    const log = open({ flushMs: 20 });
    const [mine, other] = [v7(), v7()];
    for (const status of [200, 403, 401]) log.record(request(mine, { status }));
    log.record(request(other));
    log.record(request(mine, { tenant: 'acme' }));
    await eventually(async () => {
      expect(await count(mine)).to.equal(4);
    });
    const entries = await log.list({ tenant: 'default', keyId: mine, limit: 10, offset: 0 });
    expect(entries.map(({ status }) => status)).to.deep.equal([401, 403, 200]);
    expect(entries[0]).to.deep.include({
      api_key_id: mine,
      method: 'GET',
      path: '/api/v1/content/post',
      ip: '192.0.2.7',
      ts: '2026-05-01T00:00:00.000Z',
    });
    expect(await log.list({ tenant: 'default', keyId: mine, limit: 1, offset: 2 })).to.deep.equal([entries[2]]);
    expect(
      await log.list({
        tenant: 'default',
        keyId: mine,
        limit: 10,
        offset: 0,
        since: new Date('2026-05-01T00:00:00.001Z'),
      }),
    ).to.be.empty;
    await log.close();
  });

  it('writes thousands of queued requests in batches when it is closed, with any characters in the path', async () => {
    const log = open({ flushMs: 60_000 });
    const key = v7();
    for (let n = 0; n < 5_001; n += 1)
      log.record(request(key, { path: `/api/v1/${'\u0000😀'.repeat(n % 3)}${'x'.repeat(n === 7 ? 5_000 : 0)}` }));
    await log.close();
    expect(await count(key)).to.equal(5_001);
  });

  it('drops the oldest requests when the queue is full, and counts them', async () => {
    const log = open({ flushMs: 60_000, maxQueued: 100 });
    const key = v7();
    for (let status = 0; status < 150; status += 1) log.record(request(key, { status }));
    expect(log.dropped()).to.equal(50);
    const kept = await log.list({ tenant: 'default', keyId: key, limit: 200, offset: 0 });
    expect(kept.map(({ status }) => status)).to.deep.equal(Array.from({ length: 100 }, (_, n) => 149 - n));
    await log.close();
  });

  it('keeps requests queued while the database is unreachable, and fails no request', async () => {
    const log = open({ flushMs: 10, url: 'postgres://postgres@127.0.0.1:1/nowhere' });
    log.record(request(v7()));
    for (let round = 0; round < 2; round += 1) {
      expect(await rejectionOf(log.flush())).to.be.instanceOf(Error);
    }
    expect(log.dropped()).to.equal(0);
    await log.close().catch(() => undefined);
  });
});

describe('the usage counts of API keys', () => {
  const database = useDatabase();
  const open = (options: { readonly flushMs?: number; readonly maxQueued?: number } = {}) => {
    const db = database.db();
    const vault = createVault({ database: db, encryptionKey: '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70' });
    return openApiKeyRequests({
      database: db,
      vault,
      logger: recordingLogger(),
      newId: v7,
      now: () => new Date(),
      flushMs: 60_000,
      ...options,
    });
  };
  const at = new Date();
  const period = at.toISOString().slice(0, 7);
  const request = (keyId: string, more: Partial<ApiKeyRequest> = {}): ApiKeyRequest => ({
    keyId,
    tenant: 'default',
    method: 'GET',
    path: '/api/v1/content/post',
    status: 200,
    ip: '192.0.2.7',
    bytesIn: 1,
    bytesOut: 2,
    at,
    admission: { period, counted: false },
    ...more,
  });

  it('contain requests that were admitted and not refused, from every process', async () => {
    const [here, there] = [open(), open()];
    const key = { tenant: 'default', keyId: v7() };
    for (const log of [here, there])
      for (const status of [200, 404, 500, 401, 403, 429]) log.record(request(key.keyId, { status }));
    there.record(request(key.keyId, { admission: undefined }));
    await there.flush();
    expect(await here.usage({ ...key, period })).to.deep.equal({ requests: 6, bytesIn: 6, bytesOut: 12 });
    expect(await here.usage({ ...key, period: '2020-01' })).to.deep.equal({ requests: 0, bytesIn: 0, bytesOut: 0 });
    expect((await here.lastUsed({ tenant: 'default', ids: [key.keyId, v7()] })).get(key.keyId)).to.deep.equal(at);
    await Promise.all([here.close(), there.close()]);
  });

  it('are reduced when a request that was counted first is refused later', async () => {
    const log = open();
    const key = { tenant: 'default', keyId: v7() };
    const limited = { ...key, monthlyLimit: 2 };
    const first = await log.admit(limited, at);
    expect(first.counted).to.equal(true);
    await log.admit(limited, at);
    let code: unknown;
    try {
      await log.admit(limited, at);
    } catch (error) {
      code = (error as { code?: unknown }).code;
    }
    expect(code).to.equal('monthly_limit_exceeded');
    log.record(request(key.keyId, { status: 403, admission: first }));
    expect(await log.usage({ ...key, period })).to.deep.equal({ requests: 1, bytesIn: 0, bytesOut: 0 });
    expect((await log.admit(limited, at)).counted).to.equal(true);
    await log.close();
  });

  it('count a request once when two flushes run concurrently', async () => {
    const log = open();
    const keyId = v7();
    log.record(request(keyId));
    await Promise.all([log.flush(), log.flush()]);
    expect(await log.usage({ tenant: 'default', keyId, period })).to.deep.include({ requests: 1 });
    await log.close();
  });

  it('of a deleted key are not restored by another process', async () => {
    const [here, there] = [open(), open()];
    const key = { tenant: 'default', keyId: v7() };
    here.record(request(key.keyId));
    there.record(request(key.keyId));
    await here.delete(key);
    await there.flush();
    expect(await there.list({ ...key, limit: 10, offset: 0 })).to.be.empty;
    expect(await there.usage({ ...key, period })).to.deep.equal({ requests: 0, bytesIn: 0, bytesOut: 0 });
    await Promise.all([here.close(), there.close()]);
  });
});
