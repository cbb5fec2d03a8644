import { expect } from 'chai';
import { caller } from '../../support/http.ts';
import { useService } from '../../support/service.ts';

describe('the routes for operators', () => {
  const service = useService({ environment: { CONNECTION_POOLER: 'pgbouncer', POOL_DEFAULT_POOL_SIZE: '33' } });

  it('list the slowest routes', async () => {
    await service.owner('GET', '/api/admin/schemas');
    const { endpoints } = (await service.owner('GET', '/api/admin/debug/latency?limit=200')).json<{
      endpoints: { route: string; count: number; p99_ms: number }[];
    }>();
    expect(endpoints.find(({ route }) => route === '/api/admin/schemas')).to.include({ count: 1 });
    expect(endpoints.map(({ p99_ms }) => p99_ms)).to.deep.equal(
      endpoints.map(({ p99_ms }) => p99_ms).toSorted((a, b) => b - a),
    );
  });

  it('show and set the heap growth between garbage collections', async () => {
    expect((await service.owner('GET', '/api/admin/debug/gc-config')).json()).to.include({ gogc: 0 });
    const set = await service.owner('POST', '/api/admin/debug/gc-config', { gogc: 80 });
    expect(set.json<{ gogc: number; heap: { used: number } }>()).to.include({ gogc: 80 });
    expect(set.json<{ heap: { used: number } }>().heap.used).to.be.greaterThan(1_000_000);
    expect((await service.owner('POST', '/api/admin/debug/gc-config', { gogc: -1 })).status).to.equal(422);
    await service.owner('POST', '/api/admin/debug/gc-config', { gogc: 0 });
  });

  it('report the connection pools and the external pooler', async () => {
    const report = (await service.owner('GET', '/api/admin/pool/health')).json<{
      status: string;
      latency_ms: number;
      pools: { name: string; max: number }[];
      pooler: object;
    }>();
    expect(report.status).to.equal('healthy');
    expect(report.latency_ms).to.be.greaterThan(0);
    expect(report.pools[0]).to.include({ name: 'main', max: 25 });
    expect(report.pooler).to.deep.equal({
      kind: 'pgbouncer',
      max_client_conn: 100,
      default_pool_size: 33,
      reserve_pool_size: 5,
    });
  });

  it('list the security controls', async () => {
    const { controls } = (await service.owner('GET', '/api/admin/security/controls')).json<{
      controls: { name: string; enforced: boolean }[];
    }>();
    expect(controls.find(({ name }) => name === 'audit_chain')).to.include({ enforced: true });
    expect(controls.find(({ name }) => name === 'secure_cookies')).to.include({ enforced: false });
  });

  it('are for admins', async () => {
    const anonymous = caller(() => service.service().adminUrl);
    for (const path of [
      '/api/admin/debug/latency',
      '/api/admin/debug/gc-config',
      '/api/admin/pool/health',
      '/api/admin/security/controls',
    ]) {
      expect((await anonymous('GET', path)).status, path).to.equal(401);
    }
  });
});

describe('a connection pool beyond a threshold', () => {
  const service = useService({
    environment: { DATABASE_MAX_CONNECTIONS: '5', POOL_HEALTH_MIN_IDLE: '50', POOL_HEALTH_MAX_LATENCY: 'nonsense' },
  });

  it('is reported as degraded, with the reasons', async () => {
    const report = (await service.owner('GET', '/api/admin/pool/health')).json<{ status: string; reasons: string[] }>();
    expect(report).to.deep.include({ status: 'degraded' });
    expect(report.reasons.join()).to.contain('main: fewer than 50 free connections');
  });
});
