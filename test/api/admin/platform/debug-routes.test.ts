import { expect } from 'chai';
import { caller } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

describe('the debug routes', () => {
  const service = useService();

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
  it('are for admins', async () => {
    const anonymous = caller(() => service.service().adminUrl);
    for (const path of ['/api/admin/debug/latency', '/api/admin/debug/gc-config'])
      expect((await anonymous('GET', path)).status, path).to.equal(401);
  });
});
