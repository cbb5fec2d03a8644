import { expect } from 'chai';
import { openMetrics } from '../../../infrastructure/metrics/open-metrics.ts';

describe('the metrics of a process', () => {
  const metrics = openMetrics();
  after(() => {
    metrics.close();
  });

  it('contain the reported values under names that start with palimpsest_', async () => {
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
    ])
      expect(text).to.contain(line);
    expect(text)
      .to.contain('palimpsest_nodejs_eventloop_lag_seconds')
      .and.contain('palimpsest_process_resident_memory_bytes');
    expect(
      text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('palimpsest_')),
    ).to.deep.equal([]);
  });

  it('omit the lag of a follower that this process no longer runs', async () => {
    const own = openMetrics();
    for (const follower of ['projection/content/1', 'relay']) {
      own.lag(follower, 3);
      own.followerLeft?.(follower);
    }
    expect(await own.text()).to.not.match(/^palimpsest_(projection|relay)_lag_seconds[ {]/m);
    own.lag('relay', 2);
    expect(await own.text()).to.match(/^palimpsest_relay_lag_seconds 2$/m);
    own.close();
  });

  it('contain stopped followers, dead letters, stubs, compensations, pools, and numbers that are read at each scrape', async () => {
    const own = openMetrics();
    let dropped = 3;
    own.watch({
      pools: { main: { totalCount: 5, idleCount: 2, waitingCount: 1 } },
      droppedKeyRequests: () => dropped,
      queuedAppends: () => 4,
    });
    own.followerStopped?.('projection/content/1', true);
    own.followerStopped?.('projection/identity/1', false);
    own.deadLettered?.('palimpsest.events.entry.dlq');
    own.stubPublished?.('palimpsest.content.changes', 'too_large');
    own.compensated?.(true);
    own.compensated?.(false);
    const text = await own.text();
    for (const line of [
      'palimpsest_follower_stopped{follower="projection/content/1"} 1',
      'palimpsest_follower_stopped{follower="projection/identity/1"} 0',
      'palimpsest_dead_letters_total{topic="palimpsest.events.entry.dlq"} 1',
      'palimpsest_relay_stubs_total{topic="palimpsest.content.changes",reason="too_large"} 1',
      'palimpsest_compensations_total{outcome="taken_back"} 1',
      'palimpsest_compensations_total{outcome="failed"} 1',
      'palimpsest_pool_total{pool="main"} 5',
      'palimpsest_pool_idle{pool="main"} 2',
      'palimpsest_pool_waiting{pool="main"} 1',
      'palimpsest_key_requests_dropped_total 3',
      'palimpsest_append_queue_depth 4',
    ])
      expect(text).to.contain(line);
    dropped = 5;
    expect(await own.text()).to.contain('palimpsest_key_requests_dropped_total 5');
    own.close();
  });

  it('are separate from those of another instance', async () => {
    const other = openMetrics();
    expect(await other.text()).to.not.contain('queue="webhooks"');
    other.close();
  });
});
