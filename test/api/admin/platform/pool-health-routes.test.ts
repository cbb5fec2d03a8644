import { expect } from 'chai';
import { caller } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

describe('the health of the connection pools', () => {
  const service = useService({ environment: { CONNECTION_POOLER: 'pgbouncer', POOL_DEFAULT_POOL_SIZE: '33' } });

  it('is reported for each pool, with the external pooler', async () => {
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
  it('is for admins', async () => {
    const anonymous = caller(() => service.service().adminUrl);
    expect((await anonymous('GET', '/api/admin/pool/health')).status).to.equal(401);
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
