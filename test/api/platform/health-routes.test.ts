import { expect } from 'chai';
import { type HealthRouteDependencies, healthRoutes } from '../../../api/platform/health-routes.ts';
import { metricsRoutes } from '../../../api/platform/metrics-routes.ts';
import { openMetrics } from '../../../infrastructure/metrics/open-metrics.ts';
import { bodyOf, serve } from '../../support/serve-routes.ts';

const WELL: HealthRouteDependencies = {
  state: () => 'running',
  databaseReachable: () => Promise.resolve(true),
  stoppedProjections: () => [],
  diskLow: () => Promise.resolve(false),
};

describe('probes', () => {
  async function ask(
    checks: Partial<HealthRouteDependencies>,
    paths: readonly string[],
    headers: Record<string, string> = {},
  ) {
    const { admin, content } = await serve(healthRoutes({ ...WELL, ...checks }));
    try {
      return await Promise.all(
        [admin, content].flatMap(({ url }) =>
          paths.map(async (path) => {
            const response = await fetch(url + path, { headers });
            return { status: response.status, body: await bodyOf(response) };
          }),
        ),
      );
    } finally {
      await Promise.all([admin.close(), content.close()]);
    }
  }

  it('answer 200 without a credential on both listeners when all checks succeed', async () => {
    for (const { status, body } of await ask({}, ['/healthz', '/readyz', '/startup']))
      expect([status, body]).to.deep.equal([200, { status: 'ok' }]);
  });
  it('answer 503 during the start, except liveness', async () => {
    const [healthz, readyz, startup] = await ask({ state: () => 'starting' }, ['/healthz', '/readyz', '/startup']);
    expect([healthz?.status, readyz?.status, startup?.status]).to.deep.equal([200, 503, 503]);
    expect(readyz?.body.reasons).to.deep.equal(['starting']);
  });
  it('answer 503 with reasons during shutdown, without a database, with read models that it must not serve, with a stopped projection and with little free disk', async () => {
    const reasons = async (checks: Partial<HealthRouteDependencies>): Promise<unknown> =>
      (await ask(checks, ['/readyz']))[0]?.body.reasons;
    expect(await reasons({ state: () => 'shutting_down' })).to.deep.equal(['shutting down']);
    expect(await reasons({ databaseReachable: () => Promise.reject(new Error('down')) })).to.deep.equal([
      'database unreachable',
    ]);
    expect(
      await reasons({ stoppedProjections: () => ['content'], diskLow: () => Promise.resolve(true) }),
    ).to.deep.equal(['projection stopped: content', 'free disk low']);
    const unserved = [
      { name: 'content', reason: 'being_built' },
      { name: 'identity', reason: 'replaced' },
    ] as const;
    expect(await reasons({ unservedReadModels: () => Promise.resolve(unserved) })).to.deep.equal([
      'read model being built: content',
      'read model replaced: identity',
    ]);
  });
  it('answer 200 and `degraded` with reasons while something must be repaired but the process can serve', async () => {
    const fault = { code: 'audit_chains_stopped', chains: 1 } as const;
    const chainFaults = () => Promise.resolve([fault]);
    const [ready, live] = await ask({ chainFaults }, ['/readyz', '/healthz']);
    expect([ready?.status, ready?.body]).to.deep.equal([200, { status: 'degraded', reasons: [fault] }]);
    expect(live?.body).to.deep.equal({ status: 'ok' });
    const failing = { chainFaults, databaseReachable: () => Promise.resolve(false) };
    expect((await ask(failing, ['/readyz']))[0]?.body.reasons).to.deep.equal(['database unreachable']);
  });
  it('answer 200 and `degraded` while the pool gives no connection, and while a follower retries', async () => {
    const checks = {
      // The request that waits for a connection ends later than the probe.
      poolAnswers: () => new Promise<boolean>(() => undefined),
      retryingFollowers: () => ['worker/webhooks'],
    };
    const [ready] = await ask(checks, ['/readyz']);
    expect([ready?.status, ready?.body]).to.deep.equal([
      200,
      {
        status: 'degraded',
        reasons: [{ code: 'database_pool_exhausted' }, { code: 'follower_retrying', follower: 'worker/webhooks' }],
      },
    ]);
  });
  it('report each change of their response once', async () => {
    const told: (readonly [string, readonly string[]])[] = [];
    let stopped: readonly string[] = ['content'];
    const { admin, content, logs } = await serve(
      healthRoutes({
        ...WELL,
        stoppedProjections: () => stopped,
        onChange: (probe, reasons) => told.push([probe, reasons]),
      }),
    );
    try {
      for (let n = 0; n < 5; n += 1)
        for (const { url } of [admin, content]) expect((await fetch(`${url}/readyz`)).status).to.equal(503);
      expect(told).to.deep.equal([['readyz', ['projection stopped: content']]]);
      stopped = [];
      expect((await fetch(`${admin.url}/readyz`)).status).to.equal(200);
      expect(told.at(-1)).to.deep.equal(['readyz', []]);
      expect(logs).to.deep.equal([]);
    } finally {
      await Promise.all([admin.close(), content.close()]);
    }
  });
  it('query the database at most once a second', async () => {
    let asked = 0;
    const databaseReachable = () => {
      asked += 1;
      return Promise.resolve(true);
    };
    await ask(
      { databaseReachable },
      Array.from({ length: 20 }, () => '/healthz'),
    );
    expect(asked).to.be.lessThan(3);
  });
  it('have routes for callers with a credential: 401 without one, 503 `database unreachable`', async () => {
    const down = { databaseReachable: () => Promise.resolve(false) };
    const { admin, content } = await serve(healthRoutes({ ...WELL, ...down }));
    for (const [base, path] of [
      [admin.url, '/api/admin/health'],
      [admin.url, '/api/admin/ready'],
      [content.url, '/api/v1/health'],
      [content.url, '/api/v1/ready'],
    ] as const) {
      expect((await fetch(base + path)).status).to.equal(401);
      const answer = await fetch(base + path, { headers: { Authorization: 'Bearer editor' } });
      expect([answer.status, (await bodyOf(answer)).error]).to.deep.equal([503, 'database unreachable']);
    }
    await Promise.all([admin.close(), content.close()]);
  });
});

describe('GET /api/admin/metrics', () => {
  async function ask(token: string | undefined, authorization: string | undefined) {
    const metrics = openMetrics();
    metrics.requestFinished('content', '/api/v1/content/{schema}', 'GET', 200, 0.01);
    const { admin, content } = await serve(metricsRoutes({ metrics, token }));
    const response = await fetch(`${admin.url}/api/admin/metrics`, {
      headers: authorization === undefined ? {} : { Authorization: authorization },
    });
    const text = await response.text();
    await Promise.all([admin.close(), content.close()]);
    metrics.close();
    return { status: response.status, text, type: response.headers.get('content-type') };
  }
  it('accepts METRICS_TOKEN only, when it is set', async () => {
    const { status, text, type } = await ask('t0ken', 'Bearer t0ken');
    expect(status).to.equal(200);
    expect(type).to.contain('text/plain');
    expect(text).to.contain(
      'palimpsest_http_request_duration_seconds_count{api="content",route="/api/v1/content/{schema}",method="GET",status="200"} 1',
    );
    for (const wrong of [undefined, 'Bearer other', 'Bearer super'])
      expect((await ask('t0ken', wrong)).status).to.equal(401);
  });
  it('is for super admins only, when METRICS_TOKEN is not set', async () => {
    expect((await ask(undefined, 'Bearer super')).status).to.equal(200);
    expect((await ask(undefined, 'Bearer admin')).status).to.equal(403);
    expect((await ask(undefined, undefined)).status).to.equal(401);
  });
});
