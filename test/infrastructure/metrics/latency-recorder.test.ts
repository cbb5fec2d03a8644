import { expect } from 'chai';
import { createLatencyRecorder } from '../../../infrastructure/metrics/latency-recorder.ts';

describe('the latency recorder', () => {
  it('returns percentiles in milliseconds, the slowest route first', () => {
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

  it('drops latencies that are older than ten minutes', () => {
    let at = 0;
    const recorder = createLatencyRecorder({ now: () => at });
    recorder.record('content', '/a', 'GET', 0.001);
    at = 300_000;
    expect(recorder.slowest(10)).to.have.length(1);
    at = 600_000;
    expect(recorder.slowest(10)).to.have.length(0);
  });
});
