import { expect } from 'chai';
import { v7 } from 'uuid';
import type { ApiKeyRequest } from '../../../application/ports/api-key-requests.ts';
import { createVault } from '../../../infrastructure/crypto/vault.ts';
import { createApiKeyRequests } from '../../../infrastructure/identity/api-key-requests.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

describe('the log of API key requests', () => {
  const database = useDatabase();
  const open = (options: { readonly flushMs?: number; readonly maxQueued?: number; readonly url?: string } = {}) => {
    const { url, ...rest } = options;
    const db = url === undefined ? database.db() : openDatabase({ url });
    const vault = createVault({ database: db, encryptionKey: '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70' });
    return createApiKeyRequests({ database: db, vault, logger: recordingLogger(), newId: v7, now: () => new Date(), ...rest });
  };
  const request = (keyId: string, more: Partial<ApiKeyRequest> = {}): ApiKeyRequest => ({
    keyId, tenant: 'default', method: 'GET', path: '/api/v1/content/post', status: 200, ip: '192.0.2.7', bytesIn: 1, bytesOut: 2, at: new Date('2026-05-01T00:00:00.000Z'), ...more,
  });
  const count = async (keyId: string) => (await database.db().query('select 1 from operational.api_key_requests where key_id = $1', [keyId])).length;

  it('writes by itself, newest first, for one key of one tenant', async () => {
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
    expect(entries[0]).to.deep.include({ api_key_id: mine, method: 'GET', path: '/api/v1/content/post', ip: '192.0.2.7', ts: '2026-05-01T00:00:00.000Z' });
    expect(await log.list({ tenant: 'default', keyId: mine, limit: 1, offset: 2 })).to.deep.equal([entries[2]]);
    expect(await log.list({ tenant: 'default', keyId: mine, limit: 10, offset: 0, since: new Date('2026-05-01T00:00:00.001Z') })).to.be.empty;
    await log.close();
  });

  it('writes what waits when it is closed, thousands in batches, whatever the path holds', async () => {
    const log = open({ flushMs: 60_000 });
    const key = v7();
    for (let n = 0; n < 5_001; n += 1) log.record(request(key, { path: `/api/v1/${'\u0000😀'.repeat(n % 3)}${'x'.repeat(n === 7 ? 5_000 : 0)}` }));
    await log.close();
    expect(await count(key)).to.equal(5_001);
  });

  it('drops the oldest when too many wait, and counts them', async () => {
    const log = open({ flushMs: 60_000, maxQueued: 100 });
    const key = v7();
    for (let status = 0; status < 150; status += 1) log.record(request(key, { status }));
    expect(log.dropped()).to.equal(50);
    const kept = await log.list({ tenant: 'default', keyId: key, limit: 200, offset: 0 });
    expect(kept.map(({ status }) => status)).to.deep.equal(Array.from({ length: 100 }, (_, n) => 149 - n));
    await log.close();
  });

  it('never fails a request for want of a database, and keeps what it could not write', async () => {
    const log = open({ flushMs: 10, url: 'postgres://postgres@127.0.0.1:1/nowhere' });
    log.record(request(v7()));
    for (let round = 0; round < 2; round += 1) {
      await log.flush().then(() => expect.fail('flushed'), (error: unknown) => {
        expect(error).to.be.instanceOf(Error);
      });
    }
    expect(log.dropped()).to.equal(0);
    await log.close().catch(() => undefined);
  });
});
