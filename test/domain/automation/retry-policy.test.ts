import { expect } from 'chai';
import { DEFAULT_RETRY_POLICY, retryDelay } from '../../../domain/automation/retry-policy.ts';

describe('the retry policy of webhook deliveries', () => {
  it('waits 30 s, 60 s, 120 s and 240 s by default, and does not retry after the fifth attempt', () => {
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(DEFAULT_RETRY_POLICY, attempt, { random: 0 }))).to.deep.equal([
      30_000,
      60_000,
      120_000,
      240_000,
      undefined,
    ]);
  });

  it('never waits longer than its maximum', () => {
    expect(retryDelay({ ...DEFAULT_RETRY_POLICY, max_attempts: 100 }, 99, { random: 0.9, retryAfterMs: 9e9 })).to.equal(
      600_000,
    );
  });

  it('waits for the Retry-After of the endpoint when it is longer, and up to 10 % longer at random', () => {
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, { random: 0, retryAfterMs: 45_000 })).to.equal(45_000);
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, { random: 0, retryAfterMs: 5 })).to.equal(30_000);
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, { random: 0.5 })).to.equal(31_500);
  });

  it('grows linearly, stays fixed, or does not retry, according to its settings', () => {
    expect(
      [1, 2, 3].map((attempt) => retryDelay({ ...DEFAULT_RETRY_POLICY, strategy: 'linear' }, attempt, { random: 0 })),
    ).to.deep.equal([30_000, 60_000, 90_000]);
    expect(
      [1, 2, 3].map((attempt) => retryDelay({ ...DEFAULT_RETRY_POLICY, strategy: 'fixed' }, attempt, { random: 0 })),
    ).to.deep.equal([30_000, 30_000, 30_000]);
    expect(retryDelay({ ...DEFAULT_RETRY_POLICY, enabled: false }, 1, { random: 0, retryAfterMs: 1 })).to.equal(
      undefined,
    );
  });
});
