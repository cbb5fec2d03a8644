import { expect } from 'chai';
import { createRouteLimiter } from '../../../api/http/route-limit.ts';
import type { AppError } from '../../../domain/errors.ts';

const START = Date.parse('2030-01-01T00:00:00.000Z');
const at = (ms: number) => new Date(START + ms);

function refused(work: () => void): AppError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as AppError;
  }
}

describe('the limit of a route', () => {
  it('allows a burst and refuses the next call with the time to wait', () => {
    const limiter = createRouteLimiter({ perSecond: 5, burst: 10 });
    for (let call = 0; call < 10; call += 1) limiter.take('203.0.113.1', at(0));
    const error = refused(() => {
      limiter.take('203.0.113.1', at(0));
    });
    expect(error).to.include({ code: 'rate_limited', status: 429 });
    expect(error?.body).to.deep.equal({ remaining: 0, limit: 10, reset_at: '2030-01-01T00:00:00.200Z' });
    expect(error?.headers).to.deep.equal({ 'Retry-After': '1' });
  });

  it('refills at its rate, up to the burst', () => {
    const limiter = createRouteLimiter({ perSecond: 5, burst: 10 });
    const take = (ms: number) =>
      refused(() => {
        limiter.take('203.0.113.1', at(ms));
      });
    for (let call = 0; call < 10; call += 1) take(0);
    expect(take(199)?.code).to.equal('rate_limited');
    expect(take(200)).to.equal(undefined);
    expect(take(200)?.code).to.equal('rate_limited');
    for (let call = 0; call < 10; call += 1) expect(take(60_000), `call ${call}`).to.equal(undefined);
    expect(take(60_000)?.code).to.equal('rate_limited');
  });

  it('counts each address separately', () => {
    const limiter = createRouteLimiter({ perSecond: 1, burst: 1 });
    limiter.take('203.0.113.1', at(0));
    limiter.take('203.0.113.2', at(0));
    expect(
      refused(() => {
        limiter.take('203.0.113.1', at(0));
      })?.code,
    ).to.equal('rate_limited');
  });
});
