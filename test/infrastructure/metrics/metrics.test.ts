import { expect } from 'chai';
import { createMetrics } from '../../../infrastructure/metrics/create-metrics.ts';

describe('the metrics', () => {
  const metrics = createMetrics();
  after(() => {
    metrics.close();
  });

  it('show what was reported, named palimpsest_…', async () => {
    metrics.appendFinished('conflict', 0.002);
    metrics.lag('content', 1.5);
    metrics.lag('relay', 2.5);
    metrics.batchApplied('content', 500, 0.1);
    metrics.queueDepth('webhooks', 7);
    metrics.delivery('webhook', 'dead', 0.3);
    metrics.requestFinished('admin', '/api/admin/users/{id}', 'GET', 404, 0.001);
    const text = await metrics.text();
    for (const line of [
      'palimpsest_append_duration_seconds_count{outcome="conflict"} 1',
      'palimpsest_projection_lag_seconds{follower="content"} 1.5',
      'palimpsest_relay_lag_seconds 2.5',
      'palimpsest_events_applied_total{follower="content"} 500',
      'palimpsest_batch_duration_seconds_count{follower="content"} 1',
      'palimpsest_queue_depth{queue="webhooks"} 7',
      'palimpsest_delivery_duration_seconds_count{kind="webhook",outcome="dead"} 1',
      'palimpsest_http_request_duration_seconds_count{api="admin",route="/api/admin/users/{id}",method="GET",status="404"} 1',
    ]) expect(text).to.contain(line);
    expect(text).to.contain('palimpsest_nodejs_eventloop_lag_seconds').and.contain('palimpsest_process_resident_memory_bytes');
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('palimpsest_'))).to.deep.equal([]);
  });

  it('of two processes in one test do not mix', async () => {
    const other = createMetrics();
    expect(await other.text()).to.not.contain('queue="webhooks"');
    other.close();
  });
});
