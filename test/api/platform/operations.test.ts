import { expect } from 'chai';
import { createLatencyRecorder } from '../../../infrastructure/metrics/latency-recorder.ts';
import { caller } from '../../support/http.ts';
import { useService } from '../../support/service.ts';

describe('latencies by route', () => {
  it('tell percentiles in milliseconds, the slowest route first', () => {
    const recorder = createLatencyRecorder();
    for (let n = 1; n <= 100; n += 1) recorder.record('content', '/fast', 'GET', n / 100_000);
    recorder.record('admin', '/slow', 'POST', 2);
    const [slow, fast] = recorder.slowest(10);
    expect(slow).to.include({ api: 'admin', method: 'POST', route: '/slow', count: 1 });
    expect(slow?.p50_ms).to.be.closeTo(2000, 2);
    expect(fast).to.include({ route: '/fast', count: 100 });
    expect(fast?.p50_ms).to.be.closeTo(0.5, 0.02);
    expect(fast?.p99_ms).to.be.closeTo(0.99, 0.02);
  });
  it('forget what is older than ten minutes', () => {
    let at = 0;
    const recorder = createLatencyRecorder(() => at);
    recorder.record('content', '/a', 'GET', 0.001);
    at = 300_000;
    expect(recorder.slowest(10)).to.have.length(1);
    at = 600_000;
    expect(recorder.slowest(10)).to.have.length(0);
  });
});

describe('the routes for operators', () => {
  const service = useService({ environment: { CONNECTION_POOLER: 'pgbouncer', POOL_DEFAULT_POOL_SIZE: '33' } });

  it('name the slowest routes', async () => {
    await service.owner('GET', '/api/admin/schemas');
    const { endpoints } = (await service.owner('GET', '/api/admin/debug/latency?limit=200')).json<{ endpoints: { route: string; count: number; p99_ms: number }[] }>();
    expect(endpoints.find(({ route }) => route === '/api/admin/schemas')).to.include({ count: 1 });
    expect(endpoints.map(({ p99_ms }) => p99_ms)).to.deep.equal(endpoints.map(({ p99_ms }) => p99_ms).toSorted((a, b) => b - a));
  });

  it('show and set how far the heap grows between collections', async () => {
    expect((await service.owner('GET', '/api/admin/debug/gc-config')).json()).to.include({ gogc: 0 });
    const set = await service.owner('POST', '/api/admin/debug/gc-config', { gogc: 80 });
    expect(set.json<{ gogc: number; heap: { used: number } }>()).to.include({ gogc: 80 });
    expect(set.json<{ heap: { used: number } }>().heap.used).to.be.greaterThan(1_000_000);
    expect((await service.owner('POST', '/api/admin/debug/gc-config', { gogc: -1 })).status).to.equal(422);
    await service.owner('POST', '/api/admin/debug/gc-config', { gogc: 0 });
  });

  it('report the connection pools, with the pooler in front of them', async () => {
    const report = (await service.owner('GET', '/api/admin/pool/health')).json<{ status: string; latency_ms: number; pools: { name: string; max: number }[]; pooler: object }>();
    expect(report.status).to.equal('healthy');
    expect(report.latency_ms).to.be.greaterThan(0);
    expect(report.pools[0]).to.include({ name: 'main', max: 25 });
    expect(report.pooler).to.deep.equal({ kind: 'pgbouncer', max_client_conn: 100, default_pool_size: 33, reserve_pool_size: 5 });
  });

  it('tell which safeguards are in force', async () => {
    const { controls } = (await service.owner('GET', '/api/admin/security/controls')).json<{ controls: { name: string; enforced: boolean }[] }>();
    expect(controls.find(({ name }) => name === 'audit_chain')).to.include({ enforced: true });
    expect(controls.find(({ name }) => name === 'secure_cookies')).to.include({ enforced: false });
  });

  it('are for admins', async () => {
    const anonymous = caller(() => service.service().adminUrl);
    for (const path of ['/api/admin/debug/latency', '/api/admin/debug/gc-config', '/api/admin/pool/health', '/api/admin/security/controls']) {
      expect((await anonymous('GET', path)).status, path).to.equal(401);
    }
  });
});

describe('a pool that can not keep up', () => {
  const service = useService({ environment: { DATABASE_MAX_CONNECTIONS: '5', POOL_HEALTH_MIN_IDLE: '50', POOL_HEALTH_MAX_LATENCY: 'nonsense' } });

  it('counts as degraded, with the reasons', async () => {
    const report = (await service.owner('GET', '/api/admin/pool/health')).json<{ status: string; reasons: string[] }>();
    expect(report).to.deep.include({ status: 'degraded' });
    expect(report.reasons.join()).to.contain('main: fewer than 50 free connections');
  });
});
